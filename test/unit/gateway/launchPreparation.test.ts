import { deepStrictEqual, rejects } from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { Launch } from '../../../src/core/fleet/life.ts';
import { type LaunchPreparation, prepareLaunch } from '../../../src/gateway/launchPreparation.ts';
import { SignOfLife } from '../../../src/gateway/signOfLife.ts';
import { readEndpointFile, writeEndpointFile } from '../../../src/node/endpointFile.ts';
import { takeHandover } from '../../../src/node/handover.ts';
import { ensurePrivateDirectory } from '../../../src/node/files.ts';
import { statePaths, type StatePaths } from '../../../src/node/statePaths.ts';
import type { Endpoint } from '../../../src/protocol/endpointFile.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

const endpoint: Endpoint = {
  protocol: 1,
  port: 4711,
  token: 't'.repeat(43),
  gateway: { pid: 1, startTime: '1', instance: 'epoch-1' },
  holder: { instance: 'holder' },
  startedAt: 1,
  version: 'x',
};

describe('preparation of a launch', () => {
  let root: string;
  let paths: StatePaths;

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'bowline-'));
    paths = statePaths(root);
    await ensurePrivateDirectory(paths.agent('ada').directory);
  });

  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const story = FleetStory.bound().hook({ event: 'UserPromptSubmit' }).hook({ event: 'Stop' });
  story.tell({
    kind: 'context saved',
    name: 'ada',
    context: { at: story.now, launchId: 'ada.1', origin: 'explicit', bytes: 8 },
  });
  const launch = (id: string, mode: Launch['mode']): Launch => ({ id, mode, requestedAt: story.now, cause: 'person' });

  async function parts(prepared: string[] = []): Promise<LaunchPreparation> {
    const sign = new SignOfLife(paths, endpoint, silentLog);
    await sign.begin();
    const saved = { format: 1, agent: 'ada', at: story.now, launchId: 'ada.1', origin: 'explicit' } as const;
    return {
      files: {
        prepare: (agent, { id }) => {
          prepared.push(id);
          return Promise.resolve({ kind: 'end', id, name: agent.name, launchId: id });
        },
      },
      contexts: { load: () => Promise.resolve({ kind: 'found', saved: { ...saved, context: 'the plan' } }) },
      paths,
      clock: () => story.now,
      published: () => sign.confirm(),
    };
  }

  it('hands the saved context over to a fresh launch, once, and to no other one', async () => {
    const made = await parts();
    const files = paths.agent('ada');
    await prepareLaunch(made, story.agent(), launch('ada.2', 'fresh'));
    const taken = [takeHandover(files, 'ada.3'), takeHandover(files, 'ada.2'), takeHandover(files, 'ada.2')];
    await prepareLaunch(made, story.agent(), launch('ada.4', 'fresh'));
    await prepareLaunch(made, story.agent(), launch('ada.5', 'resume'));
    deepStrictEqual(
      [...taken, takeHandover(files, 'ada.4')].map((text) => text?.includes('the plan')),
      [undefined, true, undefined, undefined],
    );
  });

  it('begins where the endpoint file cannot be written, and writes it as soon as it can', async () => {
    const former = { ...endpoint, gateway: { ...endpoint.gateway, instance: 'epoch-0' } };
    const inTheWay = path.join(paths.endpoint, 'in the way');
    await mkdir(paths.endpoint);
    await writeFile(inTheWay, '');
    const sign = new SignOfLife(paths, endpoint, silentLog);
    await sign.begin();
    await sign.give();
    const during = await readEndpointFile(paths);
    await rm(paths.endpoint, { recursive: true });
    await writeEndpointFile(paths, former);
    await sign.give();
    deepStrictEqual([during.kind, await readEndpointFile(paths)], ['unusable', { kind: 'ok', endpoint }]);
  });

  it('mends an endpoint file that is gone or names another gateway, and starts nothing when it cannot', async () => {
    const prepared: string[] = [];
    const made = await parts(prepared);
    await rm(paths.endpoint);
    await prepareLaunch(made, story.agent(), launch('ada.2', 'fresh'));
    const mended = await readEndpointFile(paths);
    await writeEndpointFile(paths, { ...endpoint, gateway: { ...endpoint.gateway, instance: 'epoch-0' } });
    await prepareLaunch(made, story.agent(), launch('ada.3', 'fresh'));
    const replaced = await readEndpointFile(paths);
    await rm(paths.endpoint);
    await mkdir(paths.endpoint);
    await writeFile(path.join(paths.endpoint, 'in the way'), '');
    await rejects(prepareLaunch(made, story.agent(), launch('ada.4', 'fresh')), /endpoint\.json/);
    deepStrictEqual(
      [mended, replaced, prepared],
      [{ kind: 'ok', endpoint }, { kind: 'ok', endpoint }, ['ada.2', 'ada.3']],
    );
  });
});
