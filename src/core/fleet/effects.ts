import type { Launch } from './life.ts';

/**
 * Something to be done in the world, as data. An effect is planned as long as the state calls for it, under the same
 * id, and is safe to repeat: whoever gets it second finds it done and reports the same fact.
 */
export type Effect = HandsEffect | GatewayEffect;

/** Effects that the gateway runs itself. */
type GatewayEffect = ProbeEffect | TranscriptEffect | HooksEffect | NudgeEffect;

const whose: Readonly<Record<Effect['kind'], 'hands' | 'gateway'>> = {
  launch: 'hands',
  end: 'hands',
  type: 'hands',
  look: 'hands',
  interrupt: 'hands',
  prompt: 'hands',
  probe: 'gateway',
  transcript: 'gateway',
  hooks: 'gateway',
  nudge: 'gateway',
};

export function isForHands(effect: Effect): effect is HandsEffect {
  return whose[effect.kind] === 'hands';
}

/** Effects that need tmux and processes. They name the agent; the hands find its pane by the launch id kept on it. */
export type HandsEffect =
  /** Start the process of a launch, after ending any other process of this agent. Its pane is used again. */
  | { readonly kind: 'launch'; readonly id: string; readonly name: string; readonly launch: Launch }
  /** End the process of a launch and remove the agent's tmux session; `unless` it is found to be in use. */
  | {
      readonly kind: 'end';
      readonly id: string;
      readonly name: string;
      readonly launchId: string;
      readonly unless?: 'in use';
    }
  /** Type one line into an idle agent and press Enter; put off, with the reason, when the screen forbids it. */
  | {
      readonly kind: 'type';
      readonly id: string;
      readonly name: string;
      readonly launchId: string;
      readonly server: string;
      readonly attemptId: string;
      readonly text: string;
    }
  /** Look at the screen and tell what stands in the input line. */
  | {
      readonly kind: 'look';
      readonly id: string;
      readonly name: string;
      readonly launchId: string;
      readonly askedAt: number;
    }
  /** Press Escape once, in the turn that began at `turnSince`. */
  | {
      readonly kind: 'interrupt';
      readonly id: string;
      readonly name: string;
      readonly launchId: string;
      readonly interruptId: string;
    }
  /** Paste a prompt into an idle agent and submit it, once in its life; its text is in a file. */
  | {
      readonly kind: 'prompt';
      readonly id: string;
      readonly name: string;
      readonly launchId: string;
      readonly promptId: string;
    };

/** A look whether the transcript of a conversation is there, and whether a prompt stands in it, by the gateway itself. */
export interface TranscriptEffect {
  readonly kind: 'transcript';
  readonly id: string;
  readonly name: string;
  readonly sessionId: string;
  readonly path: string;
  /** Of a prompt that was typed and whose receipt no hook has told. */
  readonly promptId?: string;
}

/** A look whether a prompt that no hook told stands in the transcript, by the gateway itself. */
export interface HooksEffect {
  readonly kind: 'hooks';
  readonly id: string;
  readonly name: string;
  readonly launchId: string;
  readonly path: string;
  /** Milliseconds since the epoch: hooks told everything until then. */
  readonly toldUntil: number;
}

/** A ping on the standing stream, sent by the gateway itself. */
export interface ProbeEffect {
  readonly kind: 'probe';
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly launchId: string;
}

/** Drops the standing stream, by the gateway itself, so that the client comes back. */
export interface NudgeEffect {
  readonly kind: 'nudge';
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly launchId: string;
  readonly attemptId: string;
}
