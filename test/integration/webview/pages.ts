import assert from 'node:assert/strict';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import { noon } from '../../unit/webview/fleetViews.ts';
import { type OpenOptions, type OpenPage, PageRig, type Told } from './pageRig.ts';

/** Opens the page; its clock stands still unless a test moves it. */
export type Open = (view?: FleetView, options?: OpenOptions & { readonly told?: Told }) => Promise<OpenPage>;

/** One browser for the tests of a suite. Whatever a test does: its pages may offend no policy and complain of nothing. */
export function usePages(): Open {
  let rig: PageRig;
  let opened: OpenPage[] = [];
  before(async () => {
    rig = await PageRig.start();
  });
  after(async () => {
    await rig.dispose();
  });
  afterEach(async () => {
    const closing = opened;
    opened = [];
    for (const page of closing) {
      const complaints = [...page.errors, ...(await page.violations())];
      await page.close();
      assert.deepStrictEqual(complaints, []);
    }
  });
  return async (view, { told, ...options } = {}) => {
    const page = await rig.open(options);
    opened.push(page);
    await page.setTime(noon);
    if (view !== undefined) await page.show(view, noon, told);
    return page;
  };
}
