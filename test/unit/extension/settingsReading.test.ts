import { deepStrictEqual } from 'node:assert/strict';
import { readSettings, sameSettings } from '../../../src/extension/settingsReading.ts';

function read(values: Record<string, unknown>): ReturnType<typeof readSettings> {
  return readSettings((name) => values[name]);
}

describe('settings for the gateway', () => {
  it('are taken as they are', () => {
    const environment = { HOME: '/home/ada', LANG: '' };
    deepStrictEqual(read({ claudePath: ' /opt/claude ', environment, healing: 'ask' }), {
      settings: { claudePath: '/opt/claude', environment, healing: 'ask' },
      complaints: [],
    });
    const more = {
      tmuxPath: ' /opt/tmux ',
      healWithoutWindow: false,
      idleTimeoutMinutes: 30,
      guardError: 'allow',
      messaging: true,
    };
    deepStrictEqual(read({ healing: 'auto', ...more }).settings, {
      claudePath: 'claude',
      environment: {},
      healing: 'auto',
      tmuxPath: '/opt/tmux',
      handsWithoutWindow: 'off',
      guardError: 'allow',
      idleMinutes: 30,
      messaging: 'on',
    });
    deepStrictEqual(read({ healing: 'auto', tmuxPath: ' ', healWithoutWindow: true, idleTimeoutMinutes: 0 }).settings, {
      claudePath: 'claude',
      environment: {},
      healing: 'auto',
    });
  });

  it('lose only the values that cannot be used, each with a sentence', () => {
    const environment = { '1A': 'x', 'A-B': 'x', A: 1, B: 'y' };
    const numbers = { memory: 1, guardError: 1, idleTimeoutMinutes: -1, tmuxPath: 3 };
    const servers = { mcpServers: 'lab', mcpServersThroughGateway: 1 };
    const values = {
      claudePath: '',
      ...numbers,
      ...servers,
      environment,
      healing: 'sometimes',
      healWithoutWindow: 'no',
    };
    const { settings, complaints } = read(values);
    deepStrictEqual(
      [settings, complaints.length],
      [{ claudePath: 'claude', environment: { B: 'y' }, healing: 'auto' }, 10],
    );
    deepStrictEqual(read({ healing: 'off', environment: [] }).settings.environment, {});
  });

  it('are the same whatever the order of the variables', () => {
    const settings = (environment: Record<string, string>): Parameters<typeof sameSettings>[0] => {
      return { claudePath: 'claude', healing: 'auto', environment };
    };
    deepStrictEqual(
      [
        sameSettings(settings({ A: '1', B: '2' }), settings({ B: '2', A: '1' })),
        sameSettings(settings({ A: '1' }), settings({ A: '2' })),
        sameSettings(settings({}), { ...settings({}), healing: 'off' }),
        sameSettings(settings({}), { ...settings({}), tmuxPath: '/opt/tmux' }),
        sameSettings(settings({}), { ...settings({}), handsWithoutWindow: 'off' }),
        sameSettings(settings({}), { ...settings({}), handsWithoutWindow: 'on' }),
        sameSettings(settings({}), { ...settings({}), idleMinutes: 1 }),
        sameSettings(settings({}), { ...settings({}), messaging: 'off', memory: 'on' }),
        sameSettings(settings({}), { ...settings({}), mcpServers: { lab: { command: 'lab' } } }),
        sameSettings(settings({}), { ...settings({}), mcpServersThroughGateway: 'off' }),
      ],
      [true, false, false, false, false, true, false, false, false, false],
    );
  });
});
