import type { Log } from '../../base/log.ts';
import { redactor } from '../../core/diagnostics/redact.ts';
import type { Clock } from '../ports.ts';
import type { UpstreamDefinition } from './definition.ts';
import { secretsOf } from './definitionSecrets.ts';

/** Lines of one server that go into the log within {@link span} milliseconds; the others are counted. */
const linesPerSpan = 100;
const span = 60_000;

const longestLine = 1000;
const longestQuote = 200;

/** What was said so shortly before the end, in milliseconds, is taken for its reason. */
const lastWords = 3000;

export interface PipeWordsOptions {
  readonly definition: UpstreamDefinition;
  readonly name: { readonly agent: string; readonly server: string };
  readonly log: Log;
  readonly clock: Clock;
}

/** Puts what a server says besides its messages into the log, without the secrets of its definition and with a limit. */
export class PipeWords {
  private readonly clean: (text: string) => string;
  private spanBegan = -Infinity;
  private lines = 0;
  private last: { readonly at: number; readonly line: string } | undefined;

  constructor(private readonly options: PipeWordsOptions) {
    const { definition } = options;
    const home = definition.kind === 'stdio' ? definition.environment['HOME'] : undefined;
    this.clean = redactor({ keys: [], texts: [], values: secretsOf(definition), home: home ?? '' });
  }

  /** One line of its stderr. */
  line(text: string): void {
    const at = this.options.clock();
    const said = this.clean(text.slice(0, longestLine));
    // Behind the sentence that matters follow a stack and the version of the runtime.
    const { last } = this;
    const isLast = last === undefined || at - last.at > lastWords || !/error/i.test(last.line);
    if (isLast && said.trim() !== '') this.last = { at, line: said.trim() };
    this.write('an upstream server says', said, at);
  }

  /** Something that it sent was dropped: the predicate of a sentence. */
  dropped(reason: string): void {
    this.write('what an upstream server sent is dropped: it', reason, this.options.clock());
  }

  /** The reason of an end, with what was said right before it. */
  withLastWords(reason: string): string {
    const { last } = this;
    if (last === undefined || this.options.clock() - last.at > lastWords) return reason;
    return `${reason}: ${last.line.slice(0, longestQuote)}`;
  }

  private write(what: string, text: string, at: number): void {
    const { log, name } = this.options;
    if (at - this.spanBegan >= span || at < this.spanBegan) {
      const more = this.lines - linesPerSpan;
      if (more > 0) log.warn('an upstream server said more than is kept', { ...name, lines: more });
      this.spanBegan = at;
      this.lines = 0;
    }
    this.lines++;
    if (this.lines <= linesPerSpan) log.info(what, { ...name, text });
  }
}
