import { deepStrictEqual } from 'node:assert/strict';
import type { AgentConfiguration } from '../../../src/core/fleet/configuration.ts';
import { configurationFields } from '../../../src/extension/configurationFields.ts';

const empty: AgentConfiguration = { directory: '/w', extraArguments: [], environment: {}, servers: {} };
const full: AgentConfiguration = {
  ...empty,
  model: 'opus[1m]',
  permissionMode: 'plan',
  effort: 'high',
  systemPrompt: 'Be brief, and don\'t say "sorry".',
  addedDirectories: ['/x', '/with space'],
  extraArguments: ['--verbose', "it's", '', 'a"b\\c'],
  environment: { A: '1', B: 'x y=z', C: '' },
  healing: 'auto to resume',
  failedResume: 'fresh',
  idleMinutes: 30,
  servers: { 'bowline-self': 'on', 'bowline-messaging': 'off', 'bowline-memory': 'on', own: 'on' },
};

function read(label: string, text: string): unknown {
  return configurationFields.find((field) => field.label === label)?.read(text, full);
}

describe('the fields of a configuration', () => {
  it('read what they show, whatever it holds', () => {
    const change = (configuration: AgentConfiguration): unknown => {
      return Object.assign(
        {},
        ...configurationFields.map((field) => field.read(field.present(configuration), configuration)),
      );
    };
    const { directory: _directory, ...values } = full;
    deepStrictEqual(change(full), values);
    deepStrictEqual(change(empty), {
      model: null,
      permissionMode: null,
      effort: null,
      systemPrompt: null,
      addedDirectories: [],
      extraArguments: [],
      environment: {},
      servers: { 'bowline-self': 'off', 'bowline-messaging': 'off', 'bowline-memory': 'off' },
      healing: null,
      failedResume: null,
      idleMinutes: null,
    });
  });

  it('tell what is wrong while it is typed', () => {
    deepStrictEqual(
      [
        read('model', '-x'),
        read('model', 'two words'),
        read('added directories', '/x src'),
        read('extra arguments', '--x "open'),
        read('environment', 'A=1 2B=x'),
        read('environment', 'A'),
        read('healing', 'sometimes'),
        read('idle minutes', '-1'),
        read('idle minutes', 'soon'),
      ],
      [
        'This must be one word that does not begin with "-".',
        'This must be one word that does not begin with "-".',
        '"src" is not an absolute path.',
        'A quote is not closed: "open',
        '"2B=x" is not of the form NAME=value.',
        '"A" is not of the form NAME=value.',
        'This value cannot be used.',
        'This must be a number of minutes from 0 to 10080.',
        'This must be a number of minutes from 0 to 10080.',
      ],
    );
  });
});
