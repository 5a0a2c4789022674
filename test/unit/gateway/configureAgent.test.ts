import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BowlineError } from '../../../src/base/errors.ts';
import type { AgentConfiguration } from '../../../src/core/fleet/configuration.ts';
import { configurationAfter } from '../../../src/gateway/configureAgent.ts';
import type { ConfigurationChange } from '../../../src/protocol/fleetState.ts';

const before: AgentConfiguration = {
  directory: '/work',
  model: 'opus',
  healing: 'off',
  extraArguments: ['--verbose'],
  environment: { A: '1' },
  servers: { 'bowline-self': 'on' },
};

describe('configure agent', () => {
  let directory: string;
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), 'bowline-configure-')));
    symlinkSync(directory, join(directory, 'link'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('changes what is named, takes back what is null, and leaves the rest', async () => {
    const change = { model: null, healing: null, effort: 'high', idleMinutes: 0, environment: {}, systemPrompt: '' };
    assert.deepStrictEqual(await configurationAfter(before, change), {
      directory: '/work',
      effort: 'high',
      idleMinutes: 0,
      extraArguments: ['--verbose'],
      environment: {},
      servers: { 'bowline-self': 'on' },
    });
  });

  it('switches the servers that are named', async () => {
    const servers = { 'bowline-memory': 'on' } as const;
    assert.deepStrictEqual((await configurationAfter(before, { servers })).servers, {
      'bowline-self': 'on',
      ...servers,
    });
  });

  it('keeps added directories by their real paths, each once', async () => {
    const addedDirectories = [directory, join(directory, 'link')];
    assert.deepStrictEqual((await configurationAfter(before, { addedDirectories })).addedDirectories, [directory]);
  });

  const refused: Readonly<Record<string, readonly [ConfigurationChange, string]>> = {
    'a model that is an option': [{ model: '--resume' }, 'bad-request'],
    'a permission mode of two words': [{ permissionMode: 'plan mode' }, 'bad-request'],
    'an empty effort': [{ effort: '' }, 'bad-request'],
    "an argument that is Bowline's own": [{ extraArguments: ['--verbose', '--resume=x'] }, 'bad-request'],
    'an argument with a NUL': [{ extraArguments: ['a\0b'] }, 'bad-request'],
    'a directory that is not there': [{ addedDirectories: ['/nowhere/at/all'] }, 'directory-missing'],
    'a server that nobody knows': [{ servers: { own: 'on' } }, 'bad-request'],
    'a relative directory': [{ addedDirectories: ['src'] }, 'directory-missing'],
  };
  for (const [what, [change, code]] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      await assert.rejects(configurationAfter(before, change), (error) => {
        return error instanceof BowlineError && error.code === code;
      });
    });
  }
});
