/** Limits of binding health, in milliseconds (spec, Binding health; the client's own, measured in 19 versions of claude). */
export const bindingTimes = {
  /** Grace after the first SessionStart of a launch. */
  graceAfterSessionStart: 20_000,
  /** Grace after the start of the process. */
  graceAfterProcessStart: 60_000,
  /** Between probes of a healthy binding. They fall due on common marks this far apart: many together cost little more than one. */
  probeEvery: 30_000,
  /** After this a probe counts as unanswered. Answers take 2 - 6 ms, measured with claude 2.1.160 and 2.1.332. */
  probeLimit: 5_000,
  /** Unanswered probes in a row until a client counts as gone. */
  probeFailures: 2,
  /** A client from 2.1.280 on has given up this long after its stream dropped (five tries, the last at 13.7 s). */
  givesUpAfter: 14_000,
  /** An older client has ended its stream for good by then (tries at 1.0 and 2.5 s). */
  olderStreamGoneAfter: 5_000,
  /** A gateway may have lived for this long, and a moment more, after it was last known to. */
  signOfLifeEvery: 5_000,
  /** Time for a client to come back to a port that was closed for about as long as it takes to give up. */
  returnAfterClosedPort: 1_500,
  /** A connection to a server behind an endpoint is verified, or has failed, within this: 30 s, and the end of the former one. */
  updateVerifiedWithin: 40_000,
  /** Time between `initialize` and the standing stream. */
  streamAfterInitialize: 5_000,
} as const;
