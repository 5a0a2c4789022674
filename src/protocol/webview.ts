import * as z from 'zod/mini';
import type { FleetView } from '../core/fleet/select.ts';
import type { ViewChanges } from '../core/fleet/viewChanges.ts';

const optional = z.exactOptional;

/**
 * What the extension host sends to the Binding Health page: the whole view as the answer to `ready`, then what changes in
 * it. `now` (milliseconds since the epoch) is the time for which it was selected. The host's document has an empty
 * `<main id="app">` for the page, a link to codicon.css (id `vscode-codicon-stylesheet`) and the script.
 */
export type HostToWebviewMessage =
  | (Told & { readonly kind: 'view'; readonly view: FleetView })
  | (Told & { readonly kind: 'changes'; readonly changes: ViewChanges });

interface Told {
  readonly now: number;
  /** Why it is not known which agents there are; absent: it is known. */
  readonly opening?: Opening;
  /** Of the endpoint that the page watches; absent: it watches none. */
  readonly probes?: ProbeHistory;
}

/** A window that has not heard of the fleet yet, and what keeps it where that is known. */
export type Opening = { readonly kind: 'connecting' } | { readonly kind: 'cannot start'; readonly sentence: string };

/** The probes of one endpoint that this window has seen, oldest first, bounded. */
export interface ProbeHistory {
  readonly agent: string;
  readonly server: string;
  readonly probes: readonly ProbeSample[];
}

/** `ms`: the round trip; absent: it was not answered. `at`: when it was sent. */
export interface ProbeSample {
  readonly at: number;
  readonly ms?: number;
}

const name = z.string().check(z.maxLength(100));

/**
 * What the page sends. `ready`: its listener is there and it wants the present, also after it was loaded anew. `watch`: of
 * which endpoint it shows the probes from now on; without names, of none. `command`: a button was pressed; `reconnect`
 * and `reconnectUpstream` name agent and server, `attach`, `verify` and `restart` the agent, `heal` the agents, `showLog` and `newAgent` nothing.
 */
export const webviewMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('watch'), agent: optional(name), server: optional(name) }),
  z.object({
    kind: z.literal('command'),
    command: z.enum(['attach', 'verify', 'reconnect', 'reconnectUpstream', 'heal', 'restart', 'showLog', 'newAgent']),
    agent: optional(name),
    server: optional(name),
    agents: optional(z.array(name).check(z.maxLength(1_000))),
  }),
]);

export type WebviewToHostMessage = z.infer<typeof webviewMessageSchema>;
