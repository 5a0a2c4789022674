import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import { repository } from '../../host/setup.mjs';
import { type Scene, scenes } from '../../pictures/scenes.ts';
import { usePages } from './pages.ts';
import { themes } from './themes.ts';

declare global {
  interface Window {
    readonly axe: { run(context: Document, options: object): Promise<AxeResults> };
  }
}

describe('Binding Health page, seen by axe-core', function () {
  this.timeout(240_000);
  const open = usePages();
  let script: string;

  before(async () => {
    script = await readFile(path.join(repository, 'node_modules/axe-core/axe.min.js'), 'utf8');
  });

  for (const { name, view, told, state } of scenes.filter(isSeen).map(shortened)) {
    it(`offends no rule in any theme: ${name}`, async () => {
      const options = { width: 240, ...(state !== undefined && { state }), ...(told !== undefined && { told }) };
      const { page, useTheme } = await open(view, options);
      // By the debugger: the policy of the page lets no other script in.
      await page.evaluate(script);
      const broken = (rules: object): Promise<readonly string[]> =>
        page.evaluate(async (only) => {
          await window.drawn();
          const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...only });
          return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
        }, rules);
      const found = [await broken({})];
      // A theme changes colours, and nothing else that a rule looks at.
      for (const colours of Object.values(themes)) {
        await useTheme(colours);
        found.push(await broken({ runOnly: ['color-contrast', 'link-in-text-block'] }));
      }
      // Now details stand beside the matrix.
      await page.setViewportSize({ width: 900, height: 700 });
      found.push(await broken({}));
      assert.deepStrictEqual(found.flat(), []);
    });
  }
});

/** Those that show the same as others are only for eyes. */
function isSeen({ name }: Scene): boolean {
  return name !== 'well' && name !== 'details' && name !== 'largest';
}

/** What many agents show is shown by a dozen. */
function shortened(scene: Scene): Scene {
  if (scene.view === undefined) return scene;
  return { ...scene, view: { ...scene.view, agents: scene.view.agents.slice(0, 12) } };
}
