/** Numbers in [0, 1), the same ones for the same seed (mulberry32). */
export type Random = () => number;

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from `least` to `most`. */
export function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Who is killed, and what brings it back. */
export type Victim =
  /** The holder starts it again. */
  | { readonly kind: 'gateway' }
  /** The client of this index, and what it has on its way; another one of the same agent comes after `downMs`. */
  | { readonly kind: 'client'; readonly index: number; readonly downMs: number }
  /** The process behind this client of a stdio server; the gateway starts it again. */
  | { readonly kind: 'stdio server'; readonly index: number }
  /** The process of this index, with all its clients' sessions; it is started again after `downMs`. */
  | { readonly kind: 'network server'; readonly index: number; readonly downMs: number };

export interface Kill {
  /** Since the kill before it, in milliseconds. */
  readonly afterMs: number;
  readonly victim: Victim;
}

/** How many there are of each kind. */
export interface Victims {
  readonly clients: number;
  readonly stdioServers: number;
  readonly networkServers: number;
}

/** The holder restarts at once only a gateway that has lived for 5 s. */
const gatewayEveryMs = 6_000;

/** The kills of a seed, in order, without end. */
export function* killsOf(seed: number, victims: Victims): Generator<Kill, never> {
  const random = randomOf(seed);
  let now = 0;
  let lastGateway = 0;
  for (;;) {
    const afterMs = between(random, 200, 1_400);
    now += afterMs;
    const choice = random();
    const downMs = between(random, 0, 2_000);
    if (choice < 0.3 && now - lastGateway >= gatewayEveryMs) {
      lastGateway = now;
      yield { afterMs, victim: { kind: 'gateway' } };
    } else if (choice < 0.5) {
      yield { afterMs, victim: { kind: 'client', index: between(random, 0, victims.clients - 1), downMs } };
    } else if (choice < 0.75) {
      yield { afterMs, victim: { kind: 'stdio server', index: between(random, 0, victims.stdioServers - 1) } };
    } else {
      yield {
        afterMs,
        victim: { kind: 'network server', index: between(random, 0, victims.networkServers - 1), downMs },
      };
    }
  }
}
