// `npm run pictures [-- DIR] [-- SCENE...]`: pictures of the Binding Health page in every theme and width, into DIR or a new
// temporary directory. They are for eyes: nothing is compared.
import { mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PageRig } from '../integration/webview/pageRig.ts';
import { themes } from '../integration/webview/themes.ts';
import { noon } from '../unit/webview/fleetViews.ts';
import { type Scene, scenes } from './scenes.ts';

const widths = [200, 320, 800];
const height = 900;

async function main([
  directory = mkdtempSync(path.join(os.tmpdir(), 'bowline-pictures-')),
  ...wanted
]: readonly string[]): Promise<void> {
  mkdirSync(directory, { recursive: true });
  const rig = await PageRig.start();
  try {
    for (const scene of scenes.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      for (const width of widths) await picture(rig, scene, width, directory);
    }
  } finally {
    await rig.dispose();
  }
  console.log(`The pictures are in ${directory}`);
}

async function picture(
  rig: PageRig,
  { name, view, told, state }: Scene,
  width: number,
  directory: string,
): Promise<void> {
  const opened = await rig.open({ width, height, ...(state !== undefined && { state }) });
  await opened.setTime(noon);
  if (view !== undefined) await opened.show(view, noon, told);
  for (const [theme, colours] of Object.entries(themes)) {
    await opened.useTheme(colours);
    await opened.page.screenshot({ path: path.join(directory, `${name}-${width}-${theme.replaceAll(' ', '-')}.png`) });
  }
  await opened.close();
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
