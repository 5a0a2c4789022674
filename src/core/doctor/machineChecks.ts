import type { Connection } from '../fleet/select.ts';
import type { OwnServer } from '../mcp/ownServer.ts';
import { isClaudesOwn } from '../mcp/serverEntry.ts';
import type { FoundProgram } from './claudeChecks.ts';
import type { DoctorFix, DoctorLine } from './line.ts';

const tmuxPage: DoctorFix = {
  kind: 'open page',
  label: 'How to Install tmux',
  address: 'https://github.com/tmux/tmux/wiki/Installing',
};

/** `install`: the command line that installs it here; undefined: none is known, or another one was chosen. */
export function tmuxLine(program: FoundProgram, install: string | undefined): DoctorLine {
  if (program.kind === 'found') {
    return { subject: 'tmux', verdict: 'good', text: `tmux ${program.version} at ${program.file}.`, fixes: [] };
  }
  const setting: DoctorFix = { kind: 'open setting', setting: 'bowline.tmuxPath' };
  const fixes: readonly DoctorFix[] =
    install === undefined
      ? [setting, tmuxPage]
      : [{ kind: 'type in terminal', label: 'Install tmux', line: install }, tmuxPage, setting];
  return { subject: 'tmux', verdict: 'problem', text: program.sentence, fixes };
}

/** The MCP servers that the person's files name for one directory. */
export interface ServerFacts {
  readonly servers: readonly Pick<OwnServer, 'name' | 'scope' | 'way' | 'reason' | 'approval'>[];
  /** Parts of the files that cannot be used. */
  readonly bad: readonly { readonly file: string; readonly reason: string }[];
}

/** `prescribing`: the file in which the machine's owner says which servers there are; undefined: there is none. */
export function mcpLine(places: readonly ServerFacts[], prescribing?: string): DoctorLine {
  const subject = 'MCP configuration';
  if (prescribing !== undefined) {
    return {
      subject,
      verdict: 'problem',
      text: `${prescribing} prescribes the MCP servers of this machine, and Claude then takes none from Bowline: no agent can start.`,
      fixes: [{ kind: 'open file', path: prescribing }],
    };
  }
  const bad = places.flatMap((place) => place.bad);
  if (bad.length > 0) {
    const files = [...new Set(bad.map(({ file }) => file))].filter((file) => file.startsWith('/'));
    return {
      subject,
      verdict: 'problem',
      text: bad.map(({ file, reason }) => `${file}: ${reason}.`).join(' '),
      fixes: files.map((path) => ({ kind: 'open file', path })),
    };
  }
  const servers = places.flatMap((place) => place.servers);
  const left = servers.filter(
    ({ scope, way, approval }) => way === 'not given' && approval?.state !== 'disabled' && !isClaudesOwn(scope),
  );
  if (left.length > 0) {
    const text = left.map(({ name, reason = '' }) => `"${name}" is not given to agents. ${reason}`).join(' ');
    return { subject, verdict: 'note', text, fixes: [{ kind: 'MCP servers' }] };
  }
  if (servers.length === 0) {
    return { subject, verdict: 'good', text: "Agents have Bowline's own MCP servers, and no others.", fixes: [] };
  }
  const through = [...new Set(servers.filter(({ way }) => way === 'through Bowline').map(({ name }) => name))];
  const direct = [...new Set(servers.filter(({ way }) => way === 'direct').map(({ name }) => name))];
  const parts = [
    ...(through.length === 0 ? [] : [`Through Bowline: ${through.join(', ')}.`]),
    ...(direct.length === 0 ? [] : [`Not through Bowline, so not checked by it: ${direct.join(', ')}.`]),
  ];
  return { subject, verdict: 'good', text: parts.join(' ') || 'Every server is switched off in Claude.', fixes: [] };
}

export interface GatewayFacts {
  readonly connection: Connection;
  /** Whether this window wants it by now. */
  readonly wanted: 'yes' | 'no';
  /** Why it could not be started. */
  readonly startProblem?: string;
  /** What its endpoint file tells, in words: version, port, since when. */
  readonly endpoint?: string;
}

export function gatewayLine({ connection, wanted, startProblem, endpoint }: GatewayFacts): DoctorLine {
  const subject = 'gateway';
  if (connection.kind === 'connected') {
    return {
      subject,
      verdict: 'good',
      text: `It answers this window${endpoint === undefined ? '' : `: ${endpoint}`}.`,
      fixes: [],
    };
  }
  if (wanted === 'no' && startProblem === undefined) {
    return { subject, verdict: 'good', text: 'It is not needed yet: the first agent starts it.', fixes: [] };
  }
  return {
    subject,
    verdict: 'problem',
    text: `${startProblem ?? `This window cannot reach it: ${connection.reason}.`} Bowline keeps trying.`,
    fixes: [{ kind: 'start gateway' }, { kind: 'show log' }],
  };
}

/** `trial`: what became of a small program in a pseudo terminal; `works`, or why not. */
export function ptyLine(trial: string): DoctorLine {
  if (trial === 'works') {
    return { subject: 'node-pty', verdict: 'good', text: 'A program ran in a pseudo terminal.', fixes: [] };
  }
  return {
    subject: 'node-pty',
    verdict: 'note',
    text: `${trial.replace(/\.$/, '')}. Bowline drives tmux over pipes instead, and nothing is lost. Installing the extension again for this platform mends that.`,
    fixes: [],
  };
}

/** One directory that Bowline, Claude or an agent works in. */
export interface DirectoryFacts {
  readonly path: string;
  /** For example `the state of the fleet`. */
  readonly what: string;
  readonly state: 'good' | 'not there yet' | 'missing' | 'not writable' | 'of another user' | 'open to others';
  /** In bytes; absent: not asked for. */
  readonly free?: number;
}

const leastFree = 100 * 1024 * 1024;

export function directoriesLine(directories: readonly DirectoryFacts[]): DoctorLine {
  const wrong = directories.flatMap((one) => {
    const sentence = whatIsWrong(one);
    return sentence === undefined ? [] : [sentence];
  });
  const open = directories.filter(({ state }) => state === 'open to others');
  if (wrong.length > 0) {
    return {
      subject: 'directories',
      verdict: 'problem',
      text: wrong.join(' '),
      fixes: open.map(({ path }) => ({ kind: 'make private', path })),
    };
  }
  const text = directories.map(({ path, what, state }) => {
    return `${path}: ${what}${state === 'not there yet' ? ', made when it is needed' : ''}.`;
  });
  return { subject: 'directories', verdict: 'good', text: text.join(' '), fixes: [] };
}

function whatIsWrong({ path, what, state, free }: DirectoryFacts): string | undefined {
  switch (state) {
    case 'missing':
      return `${path} (${what}) is not there. Make it again, or Remove the agent.`;
    case 'not writable':
      return `You may not write in ${path} (${what}). Change its owner or mode.`;
    case 'of another user':
      return `${path} (${what}) belongs to another user. Give it to the user that runs VS Code.`;
    case 'open to others':
      return `Others on this machine may enter ${path} (${what}), where keys are. Make it private.`;
    case 'good':
    case 'not there yet':
      return free !== undefined && free < leastFree
        ? `Only ${Math.floor(free / 1024 / 1024)} MB are free at ${path} (${what}). Make room, or nothing can be saved.`
        : undefined;
  }
}

export interface PathFacts {
  /** The PATH that agents get, and that of the login shell. */
  readonly agents: string;
  readonly loginShell: string;
  /** Of its directories, those that are there. */
  readonly there: readonly string[];
}

export function pathLine({ agents, loginShell, there }: PathFacts): DoctorLine {
  const known = agents.split(':');
  const missing = loginShell.split(':').filter((one) => !known.includes(one) && there.includes(one));
  if (missing.length === 0) {
    const text = 'Agents find every program that your login shell finds.';
    return { subject: 'PATH', verdict: 'good', text, fixes: [] };
  }
  return {
    subject: 'PATH',
    verdict: 'note',
    text: `Agents get the PATH of the editor, which lacks ${missing.join(', ')} of your login shell. An MCP server or tool from there is not found by them.`,
    fixes: [
      { kind: 'use PATH', value: loginShell },
      { kind: 'open setting', setting: 'bowline.environment' },
    ],
  };
}
