import { shellLine } from '../core/claude/shellLine.ts';
import { fieldNames } from '../core/fleet/configurationChange.ts';
import { switchableServers } from '../core/fleet/builtInServers.ts';
import type { AgentConfiguration } from '../core/fleet/configuration.ts';
import { type ConfigurationChange, configurationChangeSchema } from '../protocol/fleetState.ts';

/** A field that a person can change, with how its present value is shown and what is typed is read. */
export interface ConfigurationField {
  readonly label: string;
  /** What may be typed; shown above the input. */
  readonly hint: string;
  /** The present value as it can be typed; empty: not set. */
  readonly present: (configuration: AgentConfiguration) => string;
  /** What the list shows instead: values of variables may be secrets. */
  readonly summary?: (configuration: AgentConfiguration) => string;
  /** The values to choose from, where there are only these; the empty one means: not set. */
  readonly choices?: readonly string[];
  /** The words of which any number may be chosen, where there are only these. */
  readonly words?: (configuration: AgentConfiguration) => readonly string[];
  /** The change of what is present, or a sentence that tells what is wrong with the text. */
  readonly read: (text: string, present: AgentConfiguration) => ConfigurationChange | string;
}

/** One word of Claude's. `word` undefined: it is left to Claude. */
type WordReading =
  { readonly ok: true; readonly word: string | undefined } | { readonly ok: false; readonly sentence: string };

const modelHint = 'A model, such as opus or sonnet. Empty: Claude chooses.';
const permissionHint = 'A permission mode, such as default, acceptEdits or plan. Empty: Claude chooses.';

/** What a new agent may be started with. */
export const launchFields = [
  { field: 'model', hint: modelHint, read: readWord },
  { field: 'permissionMode', hint: permissionHint, read: readWord },
] as const;

/** In the order in which they are offered. */
export const configurationFields: readonly ConfigurationField[] = [
  word('model', modelHint),
  word('permissionMode', permissionHint),
  word('effort', 'An effort, such as low, medium or high. Empty: Claude chooses.'),
  {
    label: fieldNames.systemPrompt,
    hint: "Appended to Claude's own system prompt. Empty: nothing.",
    present: ({ systemPrompt = '' }) => systemPrompt,
    read: (text) => ({ systemPrompt: text === '' ? null : text }),
  },
  {
    label: fieldNames.addedDirectories,
    hint: 'Absolute paths, with spaces between them; quote a path that holds one.',
    present: ({ addedDirectories = [] }) => shellLine(addedDirectories),
    read: (text) => {
      const addedDirectories = splitWords(text);
      if (typeof addedDirectories === 'string') return addedDirectories;
      const wrong = addedDirectories.find((path) => !path.startsWith('/'));
      return wrong === undefined ? { addedDirectories } : `"${wrong}" is not an absolute path.`;
    },
  },
  {
    label: fieldNames.extraArguments,
    hint: 'Words for the command line of claude, with spaces between them; quote a word that holds one.',
    present: ({ extraArguments }) => shellLine(extraArguments),
    read: (text) => {
      const extraArguments = splitWords(text);
      return typeof extraArguments === 'string' ? extraArguments : { extraArguments };
    },
  },
  {
    label: fieldNames.environment,
    hint: 'Variables as NAME=value, with spaces between them; quote a value that holds one.',
    present: ({ environment }) => shellLine(Object.entries(environment).map(([name, value]) => `${name}=${value}`)),
    summary: ({ environment }) => Object.keys(environment).join(', '),
    read: readEnvironment,
  },
  {
    label: fieldNames.servers,
    hint: 'Those that it has through Bowline.',
    present: ({ servers }) =>
      Object.keys(servers)
        .flatMap((name) => (servers[name] === 'on' ? [name] : []))
        .join(' '),
    words: switchableServers,
    read: (text, configuration) => {
      const chosen = text.split(' ');
      const states = switchableServers(configuration).map(
        (name) => [name, chosen.includes(name) ? 'on' : 'off'] as const,
      );
      return { servers: Object.fromEntries(states) };
    },
  },
  {
    label: fieldNames.healing,
    hint: 'What Bowline does by itself when its tools are lost. Not set: as in the settings.',
    present: ({ healing = '' }) => healing,
    choices: ['', 'auto', 'auto to resume', 'auto to reconnect', 'ask', 'off'],
    read: (text) => readBySchema({ healing: text === '' ? null : text }),
  },
  {
    label: fieldNames.failedResume,
    hint: 'What becomes of it when its conversation cannot be resumed. Not set: as in the settings.',
    present: ({ failedResume = '' }) => failedResume,
    choices: ['', 'ask', 'fresh'],
    read: (text) => readBySchema({ failedResume: text === '' ? null : text }),
  },
  {
    label: fieldNames.idleMinutes,
    hint: 'Idle minutes until it sleeps; 0: never. Empty: as in the settings.',
    present: ({ idleMinutes }) => (idleMinutes === undefined ? '' : String(idleMinutes)),
    read: (text) => {
      if (text.trim() === '') return { idleMinutes: null };
      const change = readBySchema({ idleMinutes: Number(text) });
      return typeof change === 'string' ? 'This must be a number of minutes from 0 to 10080.' : change;
    },
  },
];

function word(field: 'model' | 'permissionMode' | 'effort', hint: string): ConfigurationField {
  return {
    label: fieldNames[field],
    hint,
    present: (configuration) => configuration[field] ?? '',
    read: (text) => {
      const reading = readWord(text);
      return reading.ok ? { [field]: reading.word ?? null } : reading.sentence;
    },
  };
}

function readWord(text: string): WordReading {
  const word = text.trim();
  if (word === '') return { ok: true, word: undefined };
  return /^[^-\s]\S*$/.test(word)
    ? { ok: true, word }
    : { ok: false, sentence: 'This must be one word that does not begin with "-".' };
}

function readEnvironment(text: string): ConfigurationChange | string {
  const words = splitWords(text);
  if (typeof words === 'string') return words;
  const environment: Record<string, string> = {};
  for (const one of words) {
    const [name = ''] = one.split('=', 1);
    if (!one.includes('=') || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return `"${one}" is not of the form NAME=value.`;
    environment[name] = one.slice(name.length + 1);
  }
  return { environment };
}

function readBySchema(value: object): ConfigurationChange | string {
  const parsed = configurationChangeSchema.safeParse(value);
  return parsed.success ? parsed.data : 'This value cannot be used.';
}

/** The words of a line as a shell would take them, without expanding anything; a sentence where a quote is open. */
function splitWords(line: string): string[] | string {
  const words: string[] = [];
  const pattern = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/suy;
  let current: string | undefined;
  while (pattern.lastIndex < line.length) {
    const { lastIndex } = pattern;
    const found = pattern.exec(line);
    if (found === null) return `A quote is not closed: ${line.slice(lastIndex)}`;
    const [, single, double, escaped, plain] = found;
    const part = single ?? double?.replace(/\\(.)/gsu, '$1') ?? escaped ?? plain;
    if (part !== undefined) current = (current ?? '') + part;
    else if (current !== undefined) {
      words.push(current);
      current = undefined;
    }
  }
  return current === undefined ? words : [...words, current];
}
