import type { ExitReading, HookFact } from '../claude/facts.ts';
import type { OwnServer } from '../mcp/ownServer.ts';
import type { TurnError } from './poison.ts';
import type { ActivityKind, Adoption, PromptRecord, SavedContext, SaveRestart } from './agent.ts';
import type { AgentConfiguration, FleetSettings } from './configuration.ts';
import type { ClientInfo, DoubtCause, IdentityFaultCause, UpdateCause } from '../binding/bindingRecord.ts';
import type { Dialog, EndReason, Interrupt, InterruptOutcome, Launch, PaneProcess, ScreenShows } from './life.ts';
import type { Epoch, GuardBypass, Notice } from './state.ts';
import type { IncidentEnd, Rung } from '../healing/incident.ts';

/** A fact that happened at `at` (milliseconds since the epoch). `reduce` folds it into the state; it is never an order. */
export type FleetEvent = { readonly at: number } & FleetFact;

type FleetFact =
  // The gateway and its host
  | { readonly kind: 'epoch started'; readonly epoch: Epoch }
  | { readonly kind: 'host resumed' }
  | { readonly kind: 'settings changed'; readonly settings: FleetSettings }
  | { readonly kind: 'hands changed'; readonly holder?: string }
  | { readonly kind: 'noticed'; readonly notice: Notice }
  // What a person or a script asked for, already checked
  /** What is there is to be compared with the record. */
  | (Asked & { readonly kind: 'reconcile requested' })
  | (Asked & {
      readonly kind: 'agent created';
      readonly name: string;
      readonly configuration: AgentConfiguration;
      /** Requested in the same fact, so that nothing can come between; absent: it is only there. */
      readonly launch?: Launch;
      /** Its conversation is taken over from a process which Bowline did not start, and is about to end; absent: none. */
      readonly adopts?: AdoptedConversation;
    })
  /** The agent is not started by itself any more; its conversation stays on record. */
  | (Asked & { readonly kind: 'adoption ended'; readonly name: string; readonly detail: string })
  | (Asked & { readonly kind: 'agent configured'; readonly name: string; readonly configuration: AgentConfiguration })
  | (Asked & { readonly kind: 'agent removed'; readonly name: string })
  /** The person's files as they are now. `launchId`: that launch is given them. */
  | {
      readonly kind: 'own servers read';
      readonly name: string;
      readonly servers: readonly OwnServer[];
      readonly launchId?: string;
    }
  /** For every agent that has this definition; `name` is the one that it was asked for. */
  | (Asked & {
      readonly kind: 'server approved';
      readonly name: string;
      readonly server: string;
      readonly file: string;
      readonly digest: string;
    })
  | (Asked & {
      readonly kind: 'server approval withdrawn';
      readonly name: string;
      readonly server: string;
      readonly digest: string;
    })
  /** The server refused to be used without a login. */
  | { readonly kind: 'server wants login'; readonly name: string; readonly server: string; readonly digest: string }
  | (Asked & { readonly kind: 'launch requested'; readonly name: string; readonly launch: Launch })
  | (Asked & {
      readonly kind: 'stop requested';
      readonly name: string;
      readonly reason: EndReason;
      readonly then: 'keep' | 'remove';
    })
  /** Agents that ended with the tmux server are to be brought back; those of the restoration under way are added to it. */
  | {
      readonly kind: 'restore requested';
      readonly id: string;
      readonly by: string;
      readonly agents: readonly string[];
    }
  | (Asked & { readonly kind: 'restore ended'; readonly id: string; readonly outcome: 'done' | 'called off' })
  | { readonly kind: 'guard bypassed'; readonly record: GuardBypass }
  /** A person chose to keep trying in a conversation that is quarantined. */
  | { readonly kind: 'conversation released'; readonly name: string; readonly sessionId: string; readonly by: string }
  /** The hands are to look at its screen. */
  | { readonly kind: 'look requested'; readonly name: string; readonly launchId: string }
  | {
      readonly kind: 'interrupt requested';
      readonly name: string;
      readonly launchId: string;
      readonly request: Pick<Interrupt, 'id' | 'turnSince' | 'by'>;
    }
  | { readonly kind: 'doubted'; readonly name: string; readonly server: string; readonly cause: DoubtCause }
  | { readonly kind: 'prompt requested'; readonly name: string; readonly prompt: Omit<PromptRecord, 'state'> }
  | {
      readonly kind: 'save restart requested';
      readonly name: string;
      readonly request: Omit<SaveRestart, 'ended' | 'requestedAt'>;
    }
  // What the hands saw and did
  | { readonly kind: 'launched'; readonly name: string; readonly launchId: string; readonly process: PaneProcess }
  | {
      readonly kind: 'launch failed';
      readonly name: string;
      readonly launchId: string;
      readonly code: string;
      readonly sentence: string;
    }
  /** It is still wanted and tried again; why it is not done yet. */
  | { readonly kind: 'launch waits'; readonly name: string; readonly launchId: string; readonly sentence: string }
  | { readonly kind: 'process ended'; readonly name: string; readonly launchId: string; readonly exit: ProcessExit }
  /** Somebody uses an agent that was to be put to sleep: it is left as it is. */
  | { readonly kind: 'sleep put off'; readonly name: string; readonly launchId: string; readonly detail: string }
  | {
      readonly kind: 'screen read';
      readonly name: string;
      readonly launchId: string;
      /** Absent: no dialog is on the screen. */
      readonly dialog?: Dialog;
    }
  /** The answer to the look that was asked for at `askedAt`. */
  | {
      readonly kind: 'screen looked at';
      readonly name: string;
      readonly launchId: string;
      readonly askedAt: number;
      readonly shows: ScreenShows;
    }
  /** Escape was pressed for it. */
  | {
      readonly kind: 'interrupt pressed';
      readonly name: string;
      readonly launchId: string;
      readonly interruptId: string;
    }
  | {
      readonly kind: 'interrupt ended';
      readonly name: string;
      readonly launchId: string;
      readonly interruptId: string;
      readonly outcome: InterruptOutcome;
      readonly detail: string;
    }
  | {
      readonly kind: 'activity observed';
      readonly name: string;
      readonly launchId: string;
      readonly activity: ActivityKind;
    }
  /** The hands are about to type it; they do so only once the fleet knows. */
  | { readonly kind: 'prompt taken'; readonly name: string; readonly promptId: string; readonly launchId: string }
  /** Something is in the way, and nothing was typed. */
  | { readonly kind: 'prompt waits'; readonly name: string; readonly promptId: string; readonly reason: string }
  | { readonly kind: 'prompt typed'; readonly name: string; readonly promptId: string; readonly launchId: string }
  /** `pid`: another process works on the agent's conversation; absent: none does any more. */
  | { readonly kind: 'conversation shared'; readonly name: string; readonly launchId: string; readonly pid?: number }
  /**
   * `process`: a hook of the launch was run by it, which is neither the agent's process nor below it; absent: it is gone.
   * `startTime` is opaque.
   */
  | {
      readonly kind: 'launch doubled';
      readonly name: string;
      readonly launchId: string;
      readonly process?: { readonly pid: number; readonly startTime: string };
    }
  /** What is there is not what the record says; `detail` explains it. The name need not be on record. */
  | {
      readonly kind: 'difference found';
      readonly name: string;
      readonly what: 'pane without record' | 'pane of another launch' | 'other conversation' | 'transcript missing';
      readonly detail: string;
    }
  /** The answer to what was asked for at `askedAt`. */
  | {
      readonly kind: 'reconciled';
      readonly askedAt: number;
      readonly differences: number;
      readonly problem?: string;
    }
  | {
      readonly kind: 'program changed';
      readonly name: string;
      readonly launchId: string;
      readonly what: 'replaced' | 'gone';
    }
  // Claude's hooks
  | {
      readonly kind: 'hook reported';
      readonly name: string;
      readonly launchId: string;
      readonly hook: HookFact;
      /** The same report may come twice. */
      readonly reportId?: string;
    }
  /**
   * A look at the transcript; `errors`: its last turns, oldest first, that failed by poison one after another; `promptId`:
   * the prompt that stands in it, with a time after it was typed.
   */
  | {
      readonly kind: 'transcript seen';
      readonly name: string;
      readonly sessionId: string;
      readonly file: 'there' | 'missing';
      readonly errors?: readonly TurnError[];
      readonly promptId?: string;
    }
  /** Whether the hooks still tell of its turns; `silentSince`: the time of a prompt in its transcript that none told. */
  | { readonly kind: 'hooks checked'; readonly name: string; readonly launchId: string; readonly silentSince?: number }
  /** The record named no conversation, or not that it took a prompt, and this is the only one that can be it. */
  | {
      readonly kind: 'conversation found';
      readonly name: string;
      readonly sessionId: string;
      readonly transcriptPath: string;
    }
  // The ledger of the MCP endpoints
  | (Endpoint & { readonly kind: 'mcp initialized'; readonly session: string; readonly client: ClientInfo })
  | (Endpoint & { readonly kind: 'mcp tools listed'; readonly session: string })
  | (Endpoint & { readonly kind: 'mcp proof seen'; readonly session: string })
  | (Endpoint & { readonly kind: 'mcp stream opened'; readonly session: string })
  | (Endpoint & { readonly kind: 'mcp stream closed'; readonly session: string })
  /** Of the MCP server behind the endpoint. */
  | (Endpoint & { readonly kind: 'upstream failed'; readonly detail: string })
  /** What its session asked last; `roundTripMs`: how long a request took; absent: it was none. */
  | (Endpoint & { readonly kind: 'upstream answered'; readonly roundTripMs?: number })
  /** Nothing of before is used any more: from now on another connection is to be verified. */
  | (Asked & Endpoint & { readonly kind: 'upstream detached'; readonly why: UpdateCause })
  | (Endpoint & { readonly kind: 'probe answered'; readonly sentAt: number; readonly roundTripMs: number })
  | (Endpoint & { readonly kind: 'probe failed'; readonly sentAt: number })
  | {
      readonly kind: 'identity fault';
      readonly cause: IdentityFaultCause;
      /** Absent: nobody could be named for it. */
      readonly name?: string;
      readonly server?: string;
      readonly detail: string;
    }
  | { readonly kind: 'context saved'; readonly name: string; readonly context: SavedContext }
  // What became of prompts
  | {
      readonly kind: 'prompt ended';
      readonly name: string;
      readonly promptId: string;
      readonly outcome: 'unknown' | 'failed';
      readonly detail: string;
    }
  | {
      readonly kind: 'save restart ended';
      readonly name: string;
      readonly promptId: string;
      readonly outcome: 'restarted' | 'not restarted';
      readonly detail: string;
    }
  // Healing
  | {
      readonly kind: 'incident opened';
      readonly name: string;
      readonly server: string;
      readonly cause: string;
      readonly outage?: string;
    }
  /** A person asked for healing, whatever the policy. */
  | (Asked & { readonly kind: 'incident reopened'; readonly name: string; readonly server: string })
  /** `over`: not because it is bound again, but because there is no process any more that could be. */
  | {
      readonly kind: 'incident closed';
      readonly name: string;
      readonly server: string;
      readonly outcome: 'bound' | 'over';
    }
  | (Asked & {
      readonly kind: 'incident ended';
      readonly name: string;
      readonly server: string;
      readonly end: IncidentEnd;
    })
  | (Asked & {
      readonly kind: 'rung started';
      readonly name: string;
      readonly server: string;
      readonly attemptId: string;
      readonly rung: Rung;
      readonly by: 'policy' | 'person';
    })
  | { readonly kind: 'rung acted'; readonly name: string; readonly server: string; readonly attemptId: string }
  | {
      readonly kind: 'rung ended';
      readonly name: string;
      readonly server: string;
      readonly attemptId: string;
      readonly outcome: 'verified' | 'failed' | 'put off';
      readonly detail: string;
    }
  // Verification of a launch
  | { readonly kind: 'launch verified'; readonly name: string; readonly launchId: string }
  /** Another conversation began than the one that was to be resumed. */
  | { readonly kind: 'resume failed'; readonly name: string; readonly launchId: string; readonly detail: string }
  | { readonly kind: 'launch unverified'; readonly name: string; readonly launchId: string; readonly detail: string };

/** The window or script that asked for it; absent: a rule did. */
interface Asked {
  readonly asker?: string;
}

interface Endpoint {
  readonly name: string;
  readonly server: string;
  readonly launchId: string;
}

export interface AdoptedConversation extends Pick<Adoption, 'pid' | 'startTime'> {
  readonly sessionId: string;
  readonly transcriptPath: string;
}

/** How a process was found to have ended. */
export interface ProcessExit {
  /** `exited`: tmux told the status. `gone`: tmux proves that the pane is no more. `host gone`: the tmux server ended. */
  readonly how: 'exited' | 'gone' | 'host gone';
  readonly status?: number;
  readonly signal?: string;
  /** What the last lines on its screen mean; the lines themselves are not kept in the state. */
  readonly reading: ExitReading;
  readonly detail: string;
}

export type FleetEventKind = FleetEvent['kind'];
