import * as z from 'zod/mini';
import type { FleetView } from '../core/fleet/select.ts';

const optional = z.exactOptional;

/**
 * What the extension host sends to the Binding Health page. The page draws `view` as it is: a later message replaces an
 * earlier one as a whole. `now` (milliseconds since the epoch) is the time for which it was selected. The host's document
 * has an empty `<main id="app">` for the page, a link to codicon.css (id `vscode-codicon-stylesheet`) and the script.
 */
export interface HostToWebviewMessage {
  readonly kind: 'view';
  readonly view: FleetView;
  readonly now: number;
}

/**
 * What the page sends. `ready`: its listener is there and it wants the present, also after it was loaded anew.
 * `command`: a button was pressed; `reconnect` names agent and server, `attach`, `verify` and `restart` the agent, `heal`
 * the agents, `showLog` nothing.
 */
export const webviewMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({
    kind: z.literal('command'),
    command: z.enum(['attach', 'verify', 'reconnect', 'heal', 'restart', 'showLog']),
    agent: optional(z.string().check(z.maxLength(100))),
    server: optional(z.string().check(z.maxLength(100))),
    agents: optional(z.array(z.string().check(z.maxLength(100))).check(z.maxLength(1_000))),
  }),
]);

export type WebviewToHostMessage = z.infer<typeof webviewMessageSchema>;
