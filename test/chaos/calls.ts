/** How a call ended, as its client saw it. */
export type Outcome =
  | { readonly kind: 'answered'; readonly text: string }
  /** Errors that the gateway may answer with. */
  | { readonly kind: 'outcome unknown' | 'not carried out'; readonly sentence: string }
  /** The connection to the gateway was cut, or the stream of the answer ended without it. */
  | { readonly kind: 'cut'; readonly sentence: string }
  | { readonly kind: 'client killed' }
  | { readonly kind: 'hung'; readonly sentence: string }
  /** Anything else. */
  | { readonly kind: 'other'; readonly sentence: string };

export interface Call {
  readonly id: string;
  readonly agent: string;
  readonly server: string;
  /** What the answer must be. */
  readonly expected: string;
  /** Of `performance.now()`, in milliseconds. */
  readonly began: number;
  readonly ended: number;
  readonly outcome: Outcome;
}

/** What is to be told of a run. */
export interface Report {
  readonly rows: readonly (readonly [string, number])[];
  /** In words, each with the time of the run that it was seen at. */
  readonly faults: readonly string[];
}

export interface Run {
  readonly calls: readonly Call[];
  /** Lines `<id of the call> <agent>` of the upstreams: what was carried out. */
  readonly effects: readonly string[];
  /** What was killed, with the time of `performance.now()`. */
  readonly kills: readonly { readonly at: number; readonly kind: string }[];
  /** What was seen outside of calls: refused sessions, clients that do not work again. */
  readonly seen: readonly string[];
  readonly left: readonly string[];
  /** The beginning, by `performance.now()`. */
  readonly began: number;
}

/** A client may learn so much later, and so much earlier by this process's clock, that its gateway was killed. */
const slackMs = 1_500;

/** Judges what clients and upstreams wrote down. */
export function judge({ calls, effects, kills, seen, left, began }: Run): Report {
  const carriedOut = new Map<string, string[]>();
  for (const line of effects) {
    const [id = '', agent = ''] = line.split(' ');
    carriedOut.set(id, [...(carriedOut.get(id) ?? []), agent]);
  }
  const gatewayKills = kills.filter(({ kind }) => kind === 'gateway').map(({ at }) => at);
  const isOfKill = ({ began: from, ended: to }: Call): boolean =>
    gatewayKills.some((at) => at > from - slackMs && at < to + slackMs);
  const faults: string[] = [];
  const counts = { wrong: 0, doubled: 0, hung: 0 };
  for (const call of calls) {
    const { id, agent, server, outcome } = call;
    const tell = (kind: keyof typeof counts, words: string): void => {
      counts[kind] += 1;
      const seconds = [call.began, call.ended].map((at) => ((at - began) / 1000).toFixed(1)).join(' to ');
      faults.push(`${kind}: ${id} of ${agent} at ${server}, ${seconds} s: ${words}`);
    };
    const runs = carriedOut.get(id) ?? [];
    if (runs.length > 1) tell('doubled', `carried out ${runs.length} times (${outcome.kind})`);
    if (runs.some((by) => by !== agent)) tell('wrong', `carried out for ${runs.join(', ')}`);
    switch (outcome.kind) {
      case 'answered':
        if (outcome.text !== call.expected) tell('wrong', `answered with ${outcome.text.slice(0, 200)}`);
        else if (runs.length === 0) tell('wrong', 'answered, but never carried out');
        break;
      case 'not carried out':
        if (runs.length > 0) tell('wrong', `carried out, but said is: ${outcome.sentence}`);
        break;
      case 'cut':
        if (!isOfKill(call)) tell('wrong', `cut, and the gateway was not killed: ${outcome.sentence}`);
        break;
      case 'hung':
        tell('hung', outcome.sentence);
        break;
      case 'other':
        tell('wrong', outcome.sentence);
        break;
      case 'outcome unknown':
      case 'client killed':
    }
  }
  const ended = (kind: Outcome['kind']): number => calls.filter(({ outcome }) => outcome.kind === kind).length;
  const killed = (kind: string): number => kills.filter((one) => one.kind === kind).length;
  return {
    rows: [
      ['calls', calls.length],
      ['answered', ended('answered')],
      ['error: outcome unknown', ended('outcome unknown')],
      ['error: not carried out', ended('not carried out')],
      ['cut by the end of the gateway', ended('cut')],
      ['ended with their client', ended('client killed')],
      ...[...new Set(kills.map(({ kind }) => kind))].sort().map((kind) => [`killed: ${kind}`, killed(kind)] as const),
      ['wrong', counts.wrong],
      ['doubled', counts.doubled],
      ['hung', counts.hung],
      ['sessions lost', seen.length],
      ['left over', left.length],
    ],
    faults: [...faults, ...seen.map((words) => `session: ${words}`), ...left.map((words) => `left over: ${words}`)],
  };
}
