// A stand-in for claude, as much of it as the fleet sees: an input line between two rules, the hooks of `--settings`, an MCP
// client with a standing stream for each server of `--mcp-config`, a transcript, a live-session file, and `--resume`. It
// starts in a tenth of the time, and notes in the file STAND_IN_NOTES what it does, one JSON object (`noteSchema`) a line.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { projectFolderName } from '../../src/core/claude/transcript.ts';
import { delay } from '../../src/base/async.ts';
import type { Note } from './notes.ts';
import { StandInClient } from './standInClient.ts';

const settingsSchema = z.object({
  hooks: z.record(z.string(), z.array(z.object({ hooks: z.array(z.object({ command: z.string() })) }))),
});
const serversSchema = z.object({
  mcpServers: z.record(z.string(), z.object({ url: z.string(), headers: z.record(z.string(), z.string()) })),
});

const {
  BOWLINE_AGENT: agent = '',
  BOWLINE_LAUNCH: launch = '',
  HOME: home = '',
  STAND_IN_NOTES: notes = '',
} = process.env;
const cwd = process.cwd();
const folder = path.join(home, '.claude', 'projects', projectFolderName(cwd));
const liveSession = path.join(home, '.claude', 'sessions', `${process.pid}.json`);

const word = (option: string): string | undefined => {
  const start = `--${option}=`;
  return process.argv.find((argument) => argument.startsWith(start))?.slice(start.length);
};
const { hooks } = settingsSchema.parse(JSON.parse(readFileSync(word('settings') ?? '', 'utf8')));
const { mcpServers } = serversSchema.parse(JSON.parse(readFileSync(word('mcp-config') ?? '', 'utf8')));
const clients = Object.entries(mcpServers).map(([name, server]) => new StandInClient(name, server.url, server.headers));

let session = word('resume') ?? randomUUID();
let input = '';
const said: string[] = [];

const transcript = (): string => path.join(folder, `${session}.jsonl`);

function note(what: Note['what'], text = ''): void {
  const line: Note = { what, agent, launch, session, pid: process.pid, text };
  appendFileSync(notes, `${JSON.stringify(line)}\n`);
}

function draw(): void {
  const rule = '─'.repeat(process.stdout.columns || 80);
  const rows = [...said.slice(-8), rule, `❯ ${input}`, rule];
  process.stdout.write(`\x1b[H\x1b[2J${rows.join('\r\n')}\x1b[1A\r\x1b[${2 + input.length}C`);
}

/** Runs the commands of an event one after the other, with the payload that Claude gives them. */
async function hook(event: string, more: object = {}): Promise<void> {
  const payload = { session_id: session, transcript_path: transcript(), cwd, hook_event_name: event, ...more };
  for (const { command } of (hooks[event] ?? []).flatMap((entry) => entry.hooks)) {
    await new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'ignore', 'ignore'] });
      child.stdin.on('error', () => undefined);
      child.stdin.end(JSON.stringify(payload));
      child.on('close', resolve);
      child.on('error', resolve);
    });
  }
}

const startedAt = Date.now();
const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8');
const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];

function claim(status: 'idle' | 'busy'): void {
  mkdirSync(path.dirname(liveSession), { recursive: true });
  const times = { startedAt, updatedAt: Date.now() };
  const who = { pid: process.pid, sessionId: session, cwd, procStart, version: '2.1.332' };
  writeFileSync(`${liveSession}.part`, JSON.stringify({ ...who, ...times, status }));
  renameSync(`${liveSession}.part`, liveSession);
}

function write(type: 'user' | 'assistant', text: string, more: object = {}): void {
  mkdirSync(folder, { recursive: true });
  const message = { role: type, content: [{ type: 'text', text }] };
  const timestamp = new Date().toISOString();
  const line = { type, message, sessionId: session, cwd, timestamp, uuid: randomUUID(), ...more };
  appendFileSync(transcript(), `${JSON.stringify(line)}\n`);
}

async function submit(text: string): Promise<void> {
  note('submits', text);
  const [, server] = /^\/mcp reconnect (\S+)$/.exec(text) ?? [];
  if (server !== undefined) {
    await clients.find(({ name }) => name === server)?.connect();
    said.push(`  ⎿  Reconnected to ${server}`);
  } else if (text === '/clear') {
    await hook('SessionEnd', { reason: 'clear' });
    session = randomUUID();
    claim('idle');
    await hook('SessionStart', { source: 'clear' });
  } else {
    await turn(text);
  }
}

/** A text that begins with POISON fails as a conversation does that no turn can get out of. */
async function turn(prompt: string): Promise<void> {
  claim('busy');
  await hook('UserPromptSubmit', { prompt });
  write('user', prompt);
  if (prompt.startsWith('POISON')) {
    const text =
      'API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.';
    write('assistant', text, { isApiErrorMessage: true, error: 'unknown' });
    await hook('StopFailure', { error: 'unknown', last_assistant_message: text });
    return;
  }
  write('assistant', `heard: ${prompt}`);
  said.push(`❯ ${prompt}`, `● heard: ${prompt}`);
  await hook('Stop');
}

let work: Promise<void> = Promise.resolve();

/** Keys as tmux sends them; what comes in brackets is text, whatever it is. */
function typed(keys: string): void {
  for (const part of keys.split(/(\x1b\[200~[^]*?\x1b\[201~|\r|\x15)/)) {
    if (part === '\r') {
      const text = input.trim();
      input = '';
      if (text !== '')
        work = work
          .then(() => submit(text))
          .finally(() => {
            claim('idle');
            draw();
          });
    } else if (part === '\x15') {
      input = '';
    } else {
      input += part.replace(/\x1b\[20[01]~/g, '').replace(/\x1b.?/g, '');
    }
  }
  draw();
}

async function end(): Promise<void> {
  note('ends');
  for (const client of clients) client.dispose();
  rmSync(liveSession, { force: true });
  await Promise.race([hook('SessionEnd', { reason: 'other' }), delay(1_500)]);
  process.exit(0);
}

async function main(): Promise<void> {
  const isResume = word('resume') !== undefined;
  if (isResume && !existsSync(transcript())) {
    console.log(`No conversation found with session ID: ${session}`);
    process.exit(1);
  }
  note('starts', isResume ? readFileSync(transcript(), 'utf8').split('\n').length.toString() : '');
  process.on('SIGHUP', () => void end());
  claim('idle');
  process.stdin.setRawMode(true).setEncoding('utf8');
  process.stdin.on('data', (keys: string) => {
    typed(keys);
  });
  process.stdout.write('\x1b[?2004h');
  draw();
  for (const client of clients) void client.connect();
  await hook('SessionStart', { source: isResume ? 'resume' : 'startup' });
}

void main();
