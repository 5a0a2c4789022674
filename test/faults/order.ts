import * as z from 'zod/mini';

/**
 * What the preload of a gateway or window is to do, in the file `order.json` of the directory BOWLINE_STEPS: note each
 * step in `steps`, or kill somebody before the n-th step of this label. Whoever kills makes `met.json` of the order first.
 */
export const orderSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('note') }),
  z.object({
    kind: z.literal('kill'),
    role: z.enum(['gateway', 'window']),
    label: z.string(),
    nth: z.int(),
    /** Of the tmux server to be killed, where one runs; absent: the process itself is. */
    tmuxSocket: z.optional(z.string()),
  }),
]);

export type Order = z.infer<typeof orderSchema>;
