import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type Agent, currentLaunch } from '../../../src/core/fleet/agent.ts';
import { type Answer, call } from '../../harness/gatewayRig.ts';
import { GatewayParts } from '../../harness/gatewayParts.ts';
import { waitFor } from '../../harness/waitFor.ts';

const errorSchema = z.object({ error: z.object({ code: z.string(), sentence: z.string().check(z.minLength(10)) }) });

function idOf(agent: Agent | undefined): string {
  return (agent && currentLaunch(agent)?.id) ?? '';
}

describe('admin API', () => {
  let parts: GatewayParts;
  let project: string;
  let failing = false;
  beforeEach(async () => {
    failing = false;
    parts = await GatewayParts.start({
      save: () => (failing ? Promise.reject(new Error('disk full')) : Promise.resolve()),
    });
    project = join(parts.paths.directory, 'project');
    mkdirSync(project);
  });
  afterEach(async () => {
    await parts.dispose();
  });
  const ask = (method: string, path: string, body?: unknown): Promise<Answer> => call(parts, method, path, body);
  const brief = (answer: Answer): string => {
    const error = errorSchema.safeParse(answer.body);
    return error.success ? `${answer.status} ${error.data.error.code}` : `${answer.status}`;
  };
  const hook = { at: 5, launchId: 'x', hook: { event: 'SessionStart', sessionId: 's', transcriptExists: false } };

  it('tells everybody that it is Bowline, and nothing more without the token', async () => {
    const anonymous = (path: string): Promise<Answer> => call(parts, 'GET', path, undefined, {});
    const wrong = { authorization: 'Bearer wrong' };
    assert.deepStrictEqual(
      [
        await anonymous('/health'),
        brief(await anonymous('/agents')),
        brief(await anonymous('/nowhere')),
        brief(await call(parts, 'GET', '/agents', undefined, wrong)),
        brief(await call(parts, 'GET', '/events', undefined, wrong)),
      ],
      [
        { status: 200, body: { product: 'bowline', epoch: 'epoch' } },
        '401 unauthorized',
        '401 unauthorized',
        '401 unauthorized',
        '401 unauthorized',
      ],
    );
  });

  it('refuses foreign hosts and origins before anything else', async () => {
    const authorization = `Bearer ${parts.token}`;
    const with_ = async (headers: Record<string, string>): Promise<string> =>
      brief(await call(parts, 'GET', '/health', undefined, { authorization, ...headers }));
    assert.deepStrictEqual(
      [
        await with_({ host: 'evil.example' }),
        await with_({ origin: 'http://evil.example' }),
        await with_({ origin: 'null' }),
        await with_({ host: `localhost:${parts.port}`, origin: `http://127.0.0.1:${parts.port}` }),
      ],
      ['403 host-forbidden', '403 origin-forbidden', '403 origin-forbidden', '200'],
    );
  });

  it('answers JSON 404 on discovery paths of OAuth', async () => {
    for (const path of ['/.well-known/oauth-protected-resource/mcp/bowline-self', '/mcp', '/mcp/a/b']) {
      assert.equal(brief(await call(parts, 'GET', path, undefined, {})), '404 unknown-route');
    }
  });

  it('creates, shows, restarts, stops and removes', async () => {
    const steps = [
      await ask('POST', '/agents', { name: 'ada', directory: project }),
      await ask('POST', '/agents/ada/restart', { mode: 'fresh' }),
      await ask('POST', '/agents/ada/restart', { mode: 'resume', bypassGuard: true, reason: 'x' }),
      await ask('POST', '/agents/ada/configure', { effort: 'high' }),
      await ask('POST', '/agents/ada/configure', { effort: 3 }),
      await ask('POST', '/agents/ada/stop'),
      await ask('POST', '/stop-all'),
      await ask('POST', '/host/resumed'),
    ].map(brief);
    const one = z
      .object({ agent: z.object({ life: z.object({ kind: z.string() }) }), view: z.object({ life: z.string() }) })
      .parse((await ask('GET', '/agents/ada')).body);
    const all = z.object({ agents: z.array(z.object({ name: z.string() })) }).parse((await ask('GET', '/agents')).body);
    const by = parts.fleet.state.audit.flatMap((record) => (record.action === 'guard bypassed' ? record.by : []))[0];
    assert.deepStrictEqual(
      { steps, life: one.agent.life.kind, shown: one.view.life, all: all.agents, by },
      {
        steps: ['201', '204', '204', '204', '400 bad-request', '204', '204', '204'],
        life: 'stopping',
        shown: 'stopping',
        all: [{ name: 'ada' }],
        by: 'admin API',
      },
    );
    assert.equal(brief(await ask('DELETE', '/agents/ada')), '204');
  });

  it('plans a restore of all agents, begins it and calls it off', async () => {
    await ask('POST', '/agents', { name: 'ada', directory: project });
    const nothing = brief(await ask('POST', '/restore-all'));
    const launchId = idOf(parts.fleet.state.agents['ada']);
    const at = Date.now();
    parts.fleet.report({
      at,
      kind: 'launched',
      name: 'ada',
      launchId,
      process: { tmuxSession: '$1', pane: '%1', pid: 1 },
    });
    const hook = { event: 'UserPromptSubmit', sessionId: 's', transcriptExists: true } as const;
    parts.fleet.report({ at: at + 1, kind: 'hook reported', name: 'ada', launchId, hook });
    const exit = { how: 'host gone', reading: 'other', detail: 'the tmux server ended' } as const;
    parts.fleet.report({ at, kind: 'process ended', name: 'ada', launchId, exit });
    const plan = await ask('GET', '/restore-plan');
    const steps = [brief(await ask('POST', '/restore-all')), parts.fleet.state.agents['ada']?.life.kind];
    const off = [brief(await ask('POST', '/cancel-restore')), parts.fleet.state.agents['ada']?.life.kind];
    const wrong = [brief(await ask('POST', '/restore-plan')), brief(await ask('GET', '/restore-all'))];
    assert.deepStrictEqual(
      [nothing, plan.body, steps, off, wrong],
      [
        '400 bad-request',
        { agents: [{ name: 'ada', directory: project, verdict: { kind: 'resume', sessionId: 's' } }] },
        ['204', 'launching'],
        ['204', 'stopping'],
        ['405 method-not-allowed', '405 method-not-allowed'],
      ],
    );
  });

  it('lists foreign claudes, and adopts only one that is there, under a name that is free', async () => {
    const wanted = { name: 'bo', pid: 99_999_999, startTime: 'proc:boot:1', sessionId: 's' };
    assert.deepStrictEqual(
      [
        await ask('GET', '/foreign'),
        brief(await ask('POST', '/agents', { name: 'ada', directory: project })),
        brief(await ask('POST', '/foreign', wanted)),
        brief(await ask('POST', '/foreign', { ...wanted, name: 'ada' })),
        brief(await ask('POST', '/foreign', { ...wanted, name: 'No' })),
        brief(await ask('POST', '/foreign', { ...wanted, pid: 0 })),
        brief(await ask('DELETE', '/foreign')),
        Object.keys(parts.fleet.state.agents),
      ],
      [
        { status: 200, body: { processes: [] } },
        '201',
        '409 launch-refused',
        '409 name-taken',
        '400 name-invalid',
        '400 bad-request',
        '405 method-not-allowed',
        ['ada'],
      ],
    );
  });

  it('takes prompts and restarts after a save, shows what became of them, and lets them be called off', async () => {
    await ask('POST', '/agents', { name: 'ada', directory: project });
    const promptsSchema = z.object({
      prompts: z.array(z.object({ id: z.string(), state: z.string(), waitsFor: z.exactOptional(z.string()) })),
    });
    const prompts = async (): Promise<unknown> =>
      promptsSchema.parse((await ask('GET', '/agents/ada/prompt')).body).prompts.map(Object.values);
    const sent = await ask('POST', '/agents/ada/prompt', { text: 'one\ntwo', id: 'p1' });
    const named = z
      .object({ id: z.string().check(z.minLength(20)) })
      .parse((await ask('POST', '/agents/ada/prompt', { text: 'x' })).body);
    const file = join(parts.paths.agent('ada').prompts, 'p1');
    const stored = [readFileSync(file, 'utf8'), (statSync(file).mode & 0o777).toString(8)];
    const before = await prompts();
    const steps = [
      await ask('POST', '/agents/ada/cancel-prompt', { id: 'p1' }),
      await ask('POST', '/agents/ada/cancel-prompt', { id: 'nope' }),
      await ask('POST', '/agents/ada/prompt', { text: '/clear' }),
      await ask('POST', '/agents/bo/prompt', { text: 'x' }),
      await ask('GET', '/agents/bo/prompt'),
      await ask('DELETE', '/agents/ada/prompt'),
      await ask('POST', '/agents/ada/save-and-restart', { id: 'p3' }),
      await ask('POST', '/agents/ada/save-and-restart'),
      await ask('POST', '/agents/ada/cancel-save-and-restart', { id: 'p3' }),
    ].map(brief);
    assert.deepStrictEqual(
      { sent, stored, before, steps, after: await prompts() },
      {
        sent: { status: 202, body: { id: 'p1' } },
        stored: ['one\ntwo', '600'],
        before: [
          ['p1', 'queued', 'its start'],
          [named.id, 'queued', 'an earlier prompt'],
        ],
        steps: [
          '204',
          '400 bad-request',
          '400 bad-request',
          '404 unknown-agent',
          '404 unknown-agent',
          '405 method-not-allowed',
          '202',
          '409 guard-blocked',
          '204',
        ],
        after: [
          ['p1', 'failed'],
          [named.id, 'queued', 'its start'],
          ['p3', 'failed'],
        ],
      },
    );
    await waitFor('the text to be removed', () => !existsSync(file));
  });

  it('answers errors with a stable code, a sentence and a fitting status', async () => {
    await ask('POST', '/agents', { name: 'ada', directory: project });
    const cases: readonly [string, string, unknown, string][] = [
      ['POST', '/agents', { name: 'A b', directory: project }, '400 name-invalid'],
      ['POST', '/agents', { name: 'bo', directory: '/nowhere' }, '400 directory-missing'],
      ['POST', '/agents', { name: 'ada', directory: project }, '409 name-taken'],
      ['POST', '/agents', { name: 'bo' }, '400 bad-request'],
      ['POST', '/agents', '{', '400 bad-request'],
      ['POST', '/agents', '[1]', '400 bad-request'],
      ['POST', '/agents', 'x'.repeat(1_100_000), '413 too-large'],
      ['GET', '/agents/bo', undefined, '404 unknown-agent'],
      ['GET', '/agents/ada/conversations', undefined, '200'],
      ['GET', '/agents/bo/conversations', undefined, '404 unknown-agent'],
      ['POST', '/agents/ada/conversations', undefined, '405 method-not-allowed'],
      ['GET', '/agents/ada/plan', undefined, '200'],
      ['GET', '/agents/ada/plan?mode=fresh', undefined, '200'],
      ['GET', '/agents/ada/plan?mode=sideways', undefined, '400 bad-request'],
      ['GET', '/agents/bo/plan', undefined, '404 unknown-agent'],
      ['POST', '/agents/ada/plan', undefined, '405 method-not-allowed'],
      ['GET', '/agents/__proto__', undefined, '404 unknown-agent'],
      ['POST', '/agents/bo/stop', undefined, '404 unknown-agent'],
      ['POST', '/agents/%zz/stop', undefined, '400 bad-request'],
      ['POST', '/agents/ada/start', undefined, '409 already-running'],
      ['POST', '/agents/ada/verify', undefined, '409 not-running'],
      ['POST', '/agents/ada/reconnect', { server: 'x' }, '400 bad-request'],
      ['POST', '/agents/ada/reconnect', {}, '400 bad-request'],
      ['POST', '/agents/ada/restart', { mode: 'sideways' }, '400 bad-request'],
      ['POST', '/agents/ada/fork', undefined, '400 bad-request'],
      ['POST', '/agents/ada/keep-trying', undefined, '400 bad-request'],
      ['POST', '/agents/ada/dance', undefined, '404 unknown-route'],
      ['GET', '/agents/ada/stop', undefined, '405 method-not-allowed'],
      ['PUT', '/agents/ada', undefined, '405 method-not-allowed'],
      ['DELETE', '/agents', undefined, '405 method-not-allowed'],
      ['GET', '/nowhere', undefined, '404 unknown-route'],
    ];
    const answers = [];
    for (const [method, path, body] of cases) answers.push(brief(await ask(method, path, body)));
    assert.deepStrictEqual(
      answers,
      cases.map(([, , , expected]) => expected),
    );
  });

  it('streams a snapshot, then numbered events', async () => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${parts.token}` };
      get({ host: '127.0.0.1', port: parts.port, path: '/events', headers }, resolve).on('error', reject);
    });
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.on('error', () => undefined);
    await waitFor('the snapshot', () => text.includes('\n\n'));
    for (const name of ['ada', 'bo']) await ask('POST', '/agents', { name, directory: project });
    const messages = await waitFor('the events', () => {
      const found = text.split('\n\n').filter((message) => message.startsWith('event: '));
      return found.length >= 3 && found.slice(0, 3).map((message) => message.split('\ndata: ')[0]);
    });
    response.destroy();
    assert.deepStrictEqual(messages, ['event: snapshot\nid: 1', 'event: event\nid: 2', 'event: event\nid: 3']);
  });

  it('takes a hook report with the key of that agent only, and answers when it is on disk', async () => {
    await ask('POST', '/agents', { name: 'ada', directory: project });
    await ask('POST', '/agents', { name: 'bo', directory: project });
    const life = parts.fleet.state.agents['ada']?.life;
    const report = { ...hook, launchId: life?.kind === 'launching' ? life.launch.id : '' };
    const keys = { ada: await parts.keys.keyOf('ada'), bo: await parts.keys.keyOf('bo') };
    const post = async (key: string | undefined, body: unknown, name = 'ada'): Promise<string> =>
      brief(
        await call(
          parts,
          'POST',
          `/agents/${name}/session`,
          body,
          key === undefined ? {} : { authorization: `Bearer ${key}` },
        ),
      );
    assert.deepStrictEqual(
      [
        await post(undefined, report),
        await post(keys.bo, report),
        await post(parts.token, report),
        await post(keys.ada, report, 'nobody'),
        await post(keys.ada, { ...report, at: 'x' }),
        await post(keys.ada, '{'),
        await post(keys.ada, 'x'.repeat(70_000)),
        parts.fleet.state.agents['ada']?.session?.id,
        await post(keys.ada, report),
        parts.fleet.state.agents['ada']?.session?.id,
      ],
      [
        '403 key-wrong',
        '403 key-wrong',
        '403 key-wrong',
        '403 key-wrong',
        '400 bad-request',
        '400 bad-request',
        '400 bad-request',
        undefined,
        '204',
        's',
      ],
    );
    failing = true;
    assert.equal(await post(keys.ada, { ...report, at: 6, hook: { ...hook.hook, sessionId: 't' } }), '500 internal');
  });
});
