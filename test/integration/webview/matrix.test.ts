import assert from 'node:assert/strict';
import { waitFor } from '../../harness/waitFor.ts';
import { largest, scenes } from '../../pictures/scenes.ts';
import { agent, endpoint, fleet, noon, unbound } from '../../unit/webview/fleetViews.ts';
import type { OpenPage } from './pageRig.ts';
import { usePages } from './pages.ts';
import { type Theme, themes } from './themes.ts';

const servers = ['bowline-self', 'github'];
const three = fleet(
  ['ada', 'bo', 'cy'].map((name) => agent(name, { endpoints: servers.map((server) => endpoint({ server })) })),
);
const probes = [
  { at: noon - 60_000, ms: 4 },
  { at: noon - 30_000, ms: 31 },
  { at: noon - 15_000 },
  { at: noon, ms: 5 },
];

/** Name and outline of what has the focus. */
function focus({ page }: OpenPage): Promise<string> {
  return page.evaluate(() => window.focusedLook());
}

describe('matrix of the Binding Health page in Chromium', function () {
  this.timeout(120_000);
  const open = usePages();

  it('is used whole by keyboard: one stop for all cells, arrows, details, back, and a focus that is seen', async () => {
    const opened = await open(three);
    const { page, messages, takeCommands } = opened;
    const walked: string[] = [];
    for (const key of ['Tab', 'ArrowDown', 'ArrowRight', 'End', 'Enter', 'Tab', 'Tab']) {
      await page.keyboard.press(key);
      if (key === 'Enter') await waitFor('the details', async () => (await focus(opened)).startsWith('bo /'));
      walked.push(await focus(opened));
    }
    const watched = (await messages()).filter(({ kind }) => kind === 'watch');
    await page.keyboard.press('Space');
    const asked = await takeCommands();
    await page.keyboard.press('Escape');
    walked.push(await focus(opened));
    await page.keyboard.press('Space');
    await waitFor('no details', async () => (await page.locator('.details').count()) === 0);
    const seen = 'solid rgb(0, 120, 212)';
    assert.deepStrictEqual(
      { walked, watched, asked },
      {
        walked: [
          `ada idle, ${seen}`,
          `bo idle, ${seen}`,
          `bound 4 ms, ${seen}`,
          `bound 4 ms, ${seen}`,
          `bo / github, ${seen}`,
          `Close details, ${seen}`,
          `Verify binding of bo, ${seen}`,
          `bound 4 ms, ${seen}`,
        ],
        watched: [{ kind: 'watch', agent: 'bo', server: 'github' }],
        asked: [{ kind: 'command', command: 'verify', agent: 'bo' }],
      },
    );
  });

  it('shows of a cell its cause, the next step, the facts and the probes that it asked the host for', async () => {
    const lost = { ...unbound('client gave up'), server: 'github' };
    const rows = [agent('ada', { endpoints: [endpoint(), lost] }), agent('bo')];
    const { page, messages, show } = await open(fleet(rows));
    await page.getByRole('gridcell', { name: 'unbound' }).click();
    const details = page.getByRole('region', { name: 'ada / github' });
    await details.waitFor();
    await show(fleet(rows), noon, { probes: { agent: 'ada', server: 'github', probes } });
    const text = (await details.innerText()).replace(/\s+/g, ' ');
    assert.match(
      text,
      /unbound: The client dropped its connection.* Next: Reconnect MCP; if that fails.*Last proof 1 min ago/,
    );
    assert.deepStrictEqual(
      [
        (await messages()).filter(({ kind }) => kind === 'watch'),
        await details.getByRole('img').getAttribute('aria-label'),
        await details.locator('.bar').count(),
      ],
      [
        [{ kind: 'watch', agent: 'ada', server: 'github' }],
        'The last 4 probes: latest 5 ms, median 5 ms, worst 31 ms, 1 not answered',
        3,
      ],
    );
  });

  it('leads to the troubled cell from the blackout and from the number of problems', async () => {
    const opened = await open(largest, { width: 320 });
    const { page } = opened;
    const [dark] = largest.blackouts;
    const last = dark?.agents.at(-1) ?? '';
    await page.getByRole('button', { name: last, exact: true }).click();
    await page.getByRole('region', { name: `${last} / bowline-memory` }).waitFor();
    const isSeen = (state: string): Promise<boolean> =>
      page.evaluate((wanted) => {
        const { top = -1, bottom = -1 } = document.activeElement?.getBoundingClientRect() ?? {};
        return document.activeElement?.textContent.includes(wanted) === true && top > 0 && bottom < window.innerHeight;
      }, state);
    await waitFor('the cell in sight', () => isSeen('unbound'));
    const next = page.getByRole('button', { name: /10 agents have problems/ });
    await next.click();
    await page.getByRole('region', { name: 'agent-194 / bowline-memory' }).waitFor();
    await waitFor('the cell in sight', () => isSeen('degraded'));
    await next.click();
    await page.getByRole('region', { name: 'front / bowline-memory' }).waitFor();
    await waitFor('the cell in sight', () => isSeen('unbound'));
  });

  it('is as it was after it was hidden, moved or loaded anew', async () => {
    const first = await open(largest, { width: 320, height: 400 });
    await first.page.getByRole('rowheader', { name: /agent-046/ }).click();
    await first.page.getByRole('region', { name: 'agent-046' }).waitFor();
    const top = (page: OpenPage): Promise<number> => page.page.evaluate(() => Math.round(window.scrollY));
    await waitFor('what it keeps', async () =>
      JSON.stringify(await first.state()).includes(`"scroll":${await top(first)}`),
    );
    const again = await open(largest, { width: 320, height: 400, state: await first.state() });
    await again.page.getByRole('region', { name: 'agent-046' }).waitFor();
    await waitFor('the place', async () => again.page.getByRole('region', { name: 'agent-046' }).isVisible());
    assert.ok((await top(again)) > 500, `${await top(again)} px, before ${await top(first)}`);
  });

  it('takes every colour from the theme and follows its change', async () => {
    const { page, useTheme } = await open(scenes.find(({ name }) => name === 'blackout')?.view);
    const used = (): Promise<readonly string[]> =>
      page.evaluate(() => {
        const style = (selector: string): CSSStyleDeclaration =>
          getComputedStyle(document.querySelector(selector) ?? document.documentElement);
        return [
          style('.box.error').backgroundColor,
          style('.box.error').borderTopColor,
          style('.cell.troubled').backgroundColor,
          style('.button.primary').backgroundColor,
          style('.tone-error').color,
          style('.tone-good').color,
          style('.columns').backgroundColor,
          style('.legend').color,
        ];
      });
    const wanted = (theme: Theme): Promise<readonly string[]> =>
      page.evaluate(
        (colours) =>
          colours.map((colour) => {
            const probe = document.createElement('i');
            probe.style.color = colour;
            document.body.append(probe);
            const { color } = getComputedStyle(probe);
            probe.remove();
            return color;
          }),
        [
          'inputValidation-errorBackground',
          'inputValidation-errorBorder',
          'inputValidation-errorBackground',
          'button-background',
          'errorForeground',
          'testing-iconPassed',
          'sideBar-background',
          'descriptionForeground',
        ].map((name) => theme[name] ?? ''),
      );
    for (const [name, theme] of Object.entries(themes)) {
      await useTheme(theme);
      assert.deepStrictEqual(await used(), await wanted(theme), name);
    }
  });

  it('clips nothing and lets nothing overlap, from 200 px on, with one server and with eight, at a larger font as well', async () => {
    const { page, show, useTheme } = await open(fleet([]), { width: 200 });
    const faults: string[] = [];
    for (const { name, view, told } of scenes) {
      if (view === undefined) continue;
      await show({ ...view, agents: view.agents.slice(0, 12) }, noon, told);
      for (const width of [200, 320, 480, 800]) {
        for (const size of ['13px', '18px']) {
          await page.setViewportSize({ width, height: 900 });
          await useTheme({ ...themes.dark, 'font-size': size });
          await page.evaluate(async () => {
            // The page hears of its new width in the next frame, and draws in the one after.
            for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
            await window.drawn();
          });
          faults.push(...(await page.evaluate(clipped)).map((text) => `${name}, ${width} px, ${size}: ${text}`));
        }
      }
    }
    assert.deepStrictEqual(faults, []);
  });

  it('moves nothing: no animation and no transition', async () => {
    const { page } = await open(three);
    await page.getByRole('gridcell', { name: 'bound' }).first().click();
    const moving = await page.evaluate(() => [
      document.getAnimations().length,
      [...document.querySelectorAll('*')].filter((element) => getComputedStyle(element).transitionDuration !== '0s')
        .length,
    ]);
    assert.deepStrictEqual(moving, [0, 0]);
  });
});

/** Runs in the page: what is cut off, or stands over the edge of the page or of the cell that it is in. */
function clipped(): readonly string[] {
  const isSeen = (element: Element): boolean =>
    element.closest('.visually-hidden, .matrix.loose .columns') === null &&
    getComputedStyle(element).clipPath === 'none';
  const all = [
    ...document.querySelectorAll<HTMLElement>(
      'button, p, h2, h3, input, li, summary, dt, dd, .cell, .cell > *, .head, .column',
    ),
  ];
  const edge = document.documentElement.clientWidth;
  return all
    .filter(isSeen)
    .filter((element) => {
      const box = element.getBoundingClientRect();
      const cell = element.parentElement?.closest('.cell')?.getBoundingClientRect();
      const isOut = box.right > edge + 0.5 || (cell !== undefined && box.width > 1 && box.right > cell.right + 0.5);
      return (
        isOut ||
        (element.scrollWidth > element.clientWidth + 1 &&
          element.clientWidth > 1 &&
          !(element instanceof HTMLInputElement))
      );
    })
    .map((element) => `${element.outerHTML.slice(0, 90)} ${element.scrollWidth} > ${element.clientWidth}`);
}
