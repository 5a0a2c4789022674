// `npm run pictures [-- DIR [SCENE...]]`: pictures of the Binding Health page in four themes and three widths, into DIR or a
// new temporary directory. They are for eyes: nothing is compared. `-- --readme` makes those of the README instead.
import { mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { repository } from '../host/setup.mjs';
import { type OpenPage, PageRig } from '../integration/webview/pageRig.ts';
import { themes } from '../integration/webview/themes.ts';
import { noon } from '../unit/webview/fleetViews.ts';
import { type Scene, scenes } from './scenes.ts';

const widths = [200, 320, 800];
const height = 900;
const shownThemes = ['dark', 'light', 'high contrast', 'high contrast light'] as const;

const ofReadme = [
  { scene: 'blackout', width: 800, height: 560, theme: 'dark', file: 'binding-health.png' },
  { scene: 'fifty', width: 320, height: 560, theme: 'light', file: 'binding-health-side-bar.png' },
] as const;

async function main(given: readonly string[]): Promise<void> {
  const isForReadme = given[0] === '--readme';
  const [directory = mkdtempSync(path.join(os.tmpdir(), 'bowline-pictures-')), ...wanted] = isForReadme
    ? [path.join(repository, 'docs')]
    : given;
  const unknown = wanted.filter((name) => !scenes.some((scene) => scene.name === name));
  if (unknown.length > 0) {
    const known = scenes.map(({ name }) => name).join(', ');
    throw new Error(`There is no scene ${unknown.join(', ')}. Name some of ${known}, or none for all.`);
  }
  mkdirSync(directory, { recursive: true });
  const rig = await PageRig.start();
  try {
    if (isForReadme) await takeForReadme(rig, directory);
    else {
      for (const scene of scenes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
        for (const width of widths) await takeInThemes(rig, scene, width, directory);
      }
    }
  } finally {
    await rig.dispose();
  }
  console.log(`The pictures are in ${directory}`);
}

async function takeForReadme(rig: PageRig, directory: string): Promise<void> {
  for (const { scene: wanted, file, theme, ...size } of ofReadme) {
    const scene = scenes.find(({ name }) => name === wanted);
    if (scene === undefined) throw new Error(`the scene ${wanted} is gone`);
    const opened = await show(rig, scene, size);
    await opened.useTheme(themes[theme]);
    await opened.page.screenshot({ path: path.join(directory, file) });
    await opened.close();
  }
}

async function takeInThemes(rig: PageRig, scene: Scene, width: number, directory: string): Promise<void> {
  const opened = await show(rig, scene, { width, height });
  for (const theme of shownThemes) {
    await opened.useTheme(themes[theme]);
    const file = `${scene.name}-${width}-${theme.replaceAll(' ', '-')}.png`;
    await opened.page.screenshot({ path: path.join(directory, file) });
  }
  await opened.close();
}

async function show(
  rig: PageRig,
  { view, told, state }: Scene,
  size: { readonly width: number; readonly height: number },
): Promise<OpenPage> {
  const opened = await rig.open({ ...size, ...(state !== undefined && { state }) });
  await opened.setTime(noon);
  if (view !== undefined) await opened.show(view, noon, told);
  return opened;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
