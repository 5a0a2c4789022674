import { deepStrictEqual, match } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { commandIds } from '../../../src/extension/commands/commandIds.ts';

const root = join(__dirname, '../../..');
const settingSchema = z.object({ scope: z.string(), default: z.unknown() });
const menuSchema = z.array(z.object({ command: z.string(), when: z.optional(z.string()) }));
const manifestSchema = z.object({
  icon: z.string(),
  engines: z.object({ vscode: z.string() }),
  contributes: z.object({
    commands: z.array(
      z.object({ command: z.string(), category: z.string(), title: z.string(), enablement: z.optional(z.string()) }),
    ),
    menus: z.record(z.string(), menuSchema),
    keybindings: z.array(z.object({ command: z.string(), key: z.string(), mac: z.string(), when: z.string() })),
    views: z.record(z.string(), z.array(z.object({ id: z.string(), name: z.string() }))),
    viewsWelcome: z.array(z.object({ view: z.string(), contents: z.string(), when: z.string() })),
    configuration: z.object({ properties: z.record(z.string(), settingSchema) }),
    walkthroughs: z.array(
      z.object({ steps: z.array(z.object({ description: z.string(), media: z.object({ svg: z.string() }) })) }),
    ),
  }),
});

const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
const { contributes } = manifest;

describe('the manifest', () => {
  it('lists exactly the commands of the table, in one category', () => {
    deepStrictEqual(
      contributes.commands.map(({ command, category }) => [category, command]),
      commandIds.map((id) => ['Bowline', id]),
    );
  });

  it('refers in menus, welcome texts and walkthroughs only to commands and views that exist', () => {
    const views = Object.values(contributes.views).flat();
    const known = new Set<string>([
      ...commandIds,
      ...views.map(({ id }) => `${id}.focus`),
      // Of VS Code.
      'workbench.trust.manage',
      'workbench.action.openWalkthrough?%22bowline.bowline%23firstAgent%22',
    ]);
    const texts = [
      ...contributes.viewsWelcome.map(({ contents }) => contents),
      ...contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ description }) => description)),
    ];
    const linked = texts.flatMap((text) => [...text.matchAll(/\(command:([^)]+)\)/g)].map((found) => found[1] ?? ''));
    const inMenus = Object.values(contributes.menus).flatMap((items) => items.map(({ command }) => command));
    const unknownViews = contributes.viewsWelcome.filter(({ view }) => !views.some(({ id }) => id === view));
    deepStrictEqual([[...linked, ...inMenus].filter((command) => !known.has(command)), unknownViews], [[], []]);
  });

  it('has keys only for commands that exist, as chords, and only where there are agents', () => {
    const known = new Set<string>(commandIds);
    deepStrictEqual(
      contributes.keybindings.map(({ command, key, mac, when }) => [known.has(command), key, mac, when]),
      ['a', 'n', 'v'].map((letter) => [true, `ctrl+k alt+${letter}`, `cmd+k alt+${letter}`, 'bowline.hasAgents']),
    );
  });

  it('says that there are no agents only where that is known', () => {
    deepStrictEqual(
      contributes.viewsWelcome.map(({ when }) => when),
      [
        'isWorkspaceTrusted && bowline.fleetKnown && !bowline.gatewayProblem && !bowline.agentsFiltered',
        '!isWorkspaceTrusted && bowline.fleetKnown && !bowline.agentsFiltered',
        'isWorkspaceTrusted && bowline.gatewayProblem && !bowline.agentsFiltered',
      ],
    );
  });

  it('enables what needs something only where that is', () => {
    deepStrictEqual(
      contributes.commands.flatMap(({ command, enablement }) =>
        enablement === undefined ? [] : [[command, enablement]],
      ),
      [
        ['bowline.adoptSession', 'isWorkspaceTrusted'],
        ['bowline.restoreAll', 'bowline.lostWithHost'],
        ['bowline.healNow', 'bowline.lostTools'],
        ['bowline.healAll', 'bowline.lostTools'],
        ['bowline.clearAgentFilter', 'bowline.agentsFiltered'],
      ],
    );
  });

  it('lets no workspace choose programs, variables or healing', () => {
    deepStrictEqual(
      Object.entries(contributes.configuration.properties).map(([name, { scope, default: value }]) => [
        name,
        scope,
        value,
      ]),
      [
        ['bowline.claudePath', 'machine', 'claude'],
        ['bowline.tmuxPath', 'machine', ''],
        ['bowline.environment', 'machine', {}],
        ['bowline.healing', 'machine', 'auto'],
        ['bowline.guardError', 'machine', 'block'],
        ['bowline.healWithoutWindow', 'machine', true],
        ['bowline.idleTimeoutMinutes', 'machine', 0],
        ['bowline.failedResume', 'machine', 'ask'],
        ['bowline.messaging', 'machine', false],
        ['bowline.memory', 'machine', false],
        ['bowline.mcpServers', 'machine', {}],
        ['bowline.mcpServersThroughGateway', 'machine', true],
        ['bowline.terminalLocation', 'window', 'panel'],
      ],
    );
  });

  it('has every picture that it names', () => {
    const pictures = contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.svg));
    const missing = [manifest.icon, ...pictures].filter((file) => !existsSync(join(root, file)));
    deepStrictEqual(missing, []);
    match(manifest.engines.vscode, /^\^1\.101/);
  });
});
