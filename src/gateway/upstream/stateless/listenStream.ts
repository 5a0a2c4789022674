import * as z from 'zod/mini';
import { Waiting } from '../forwardAnswer.ts';
import { dataOf, eventOf, EventSplitter, isResponseTo, parsed } from '../httpEvents.ts';
import type { AnswerSink, EventSink } from '../upstreamSession.ts';

/** `SubscriptionFilter` of revision 2026-07-28: what a client wants to be told of, or is. */
export type ListenFilter = z.infer<typeof filterSchema>;

const filterSchema = z.object({
  toolsListChanged: z.exactOptional(z.boolean()),
  promptsListChanged: z.exactOptional(z.boolean()),
  resourcesListChanged: z.exactOptional(z.boolean()),
  resourceSubscriptions: z.exactOptional(z.array(z.string())),
});

const acknowledgedSchema = z.object({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: z.object({ notifications: filterSchema }),
});

/** One stream of `subscriptions/listen`, whose notifications go on as those of a standing stream. */
export class ListenStream extends Waiting implements AnswerSink {
  /** What it tells of; undefined: nobody has said so yet. */
  acknowledged: ListenFilter | undefined;
  /** The upstream has answered the request: with an error, or because it has nothing more to tell. */
  response: string | undefined;
  private readonly splitter = new EventSplitter();

  constructor(
    readonly id: string,
    private readonly out: EventSink,
    private readonly onAcknowledged: () => void,
  ) {
    super();
  }

  json(message: Buffer | string): void {
    this.response = message.toString();
  }

  events(part: Buffer | string): boolean {
    let room = true;
    for (const data of dataOf(this.splitter, part)) {
      if (this.gone) continue;
      const told = this.acknowledged === undefined ? acknowledgedSchema.safeParse(parsed(data)).data : undefined;
      if (told !== undefined) {
        this.acknowledged = told.params.notifications;
        this.onAcknowledged();
      } else if (isResponseTo(this.id, data)) this.response = data;
      else room = this.out.events(eventOf(data));
    }
    return room;
  }

  drained(): Promise<void> {
    return this.out.drained();
  }
}
