import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { causeText } from '../../../src/core/binding/causes.ts';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import { repository } from '../../host/setup.mjs';
import { agent, blackout, endpoint, fleet, noon, unbound } from '../../unit/webview/fleetViews.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { type OpenOptions, type OpenPage, PageRig } from './pageRig.ts';
import { type Theme, themes } from './themes.ts';

const { what, nextStep } = causeText('gateway was away');

/** Two agents that lost their tools by one cause, and one that is well. */
const dark: FleetView = fleet(
  [
    agent('ada', { endpoints: [unbound('gateway was away')] }),
    agent('bo', { endpoints: [unbound('gateway was away')] }),
    agent('cy', { activity: 'busy' }),
  ],
  {
    status: { text: '2 lost tools: ada, bo', detail: '', severity: 'error' },
    blackouts: [blackout('gateway was away', ['ada', 'bo'])],
  },
);
const well = fleet(['ada', 'bo', 'cy'].map((name) => agent(name)));
const away = fleet(
  [agent('ada', { endpoints: [endpoint({ state: 'gateway down', cause: 'The gateway is away: refused' })] })],
  {
    status: { text: 'gateway down', detail: 'refused', severity: 'error' },
    connection: { kind: 'away', since: noon - 12_000, reason: 'connection refused' },
  },
);
const many = fleet(
  Array.from({ length: 300 }, (_, index) =>
    agent(`agent-${index}`, index % 100 === 7 ? { endpoints: [unbound('client gave up')] } : {}),
  ),
);

describe('Binding Health page in Chromium', function () {
  this.timeout(120_000);
  let rig: PageRig;
  let opened: OpenPage[] = [];

  before(async () => {
    rig = await PageRig.start();
  });
  after(async () => {
    await rig.dispose();
  });
  /** Whatever a test did: nothing may have offended the policy or been complained about. */
  afterEach(async () => {
    const closing = opened;
    opened = [];
    for (const page of closing) {
      const complaints = [...page.errors, ...(await page.violations())];
      await page.close();
      assert.deepStrictEqual(complaints, []);
    }
  });

  /** Opens the page; its clock stands still unless a test moves it. */
  async function open(view?: FleetView, options: OpenOptions = {}): Promise<OpenPage> {
    const page = await rig.open(options);
    opened.push(page);
    await page.setTime(noon);
    if (view !== undefined) await page.show(view, noon);
    return page;
  }

  it('asks for the present and says what to do where there are no agents', async () => {
    const { page, messages } = await open(fleet([]));
    assert.deepStrictEqual(
      [await messages(), await page.getByRole('heading').allTextContents(), await page.getByText('New Agent').count()],
      [[{ kind: 'ready' }], ['No agents yet'], 1],
    );
  });

  it('tells screen readers the warning first, then each agent with its state in words', async () => {
    const { page } = await open(dark);
    const snapshot = await page.getByRole('main').ariaSnapshot();
    const agentLines = (name: string, life: string): string[] => [
      '    - listitem:',
      `      - heading "${name}" [level=3]`,
      `      - text: ${life}`,
      `      - button "Verify binding of ${name}"`,
      `      - button "Restart ${name}"`,
      `      - button "Attach to ${name}"`,
      `      - paragraph: /home/person/work/${name}`,
      `      - list "MCP servers of ${name}":`,
      '        - listitem:',
    ];
    const darkLines = (name: string): string[] => [
      ...agentLines(name, 'ready, idle'),
      '          - paragraph: unbound bowline-self',
      `          - button "Reconnect bowline-self of ${name}"`,
      `          - paragraph: ${what}`,
      `          - paragraph: "Next: ${nextStep}"`,
      '          - paragraph: proof 1 min ago · probe 4 ms · claude-code 2.1.332',
    ];
    assert.deepStrictEqual(
      snapshot.split('\n').map((line) => line.replace(/^ {2}/, '')),
      [
        '- main "Binding Health":',
        '- paragraph: "Error: 2 lost tools: ada, bo"',
        `- 'region "Blackout: 2 agents lost their tools"':`,
        `  - 'heading "Blackout: 2 agents lost their tools" [level=2]'`,
        '  - paragraph: ada and bo',
        `  - paragraph: ${what}`,
        `  - paragraph: "Next: ${nextStep}"`,
        '  - paragraph:',
        '    - button "Heal all 2 agents": Heal All (2)',
        '    - button "Restart all 2 agents": Restart (2)',
        '- region "Agents":',
        '  - heading "Agents" [level=2]',
        '  - list "Agents":',
        ...darkLines('ada'),
        ...darkLines('bo'),
        ...agentLines('cy', 'ready, busy'),
        '          - paragraph: bound bowline-self',
        '          - button "Reconnect bowline-self of cy"',
        '          - paragraph: proof 3 s ago · probe 4 ms · claude-code 2.1.332',
        '- group: Timeline',
        '- log "Announcements":',
        `  - paragraph: ada and bo lost their tools. ${what}`,
      ],
    );
  });

  it('never takes a text for HTML', async () => {
    const evil = '<img src=x onerror="window.pwned=1"><b>x</b>';
    const { page } = await open(
      fleet(
        [agent('ada', { directory: `/${evil}`, detail: evil, endpoints: [endpoint({ cause: evil, nextStep: evil })] })],
        {
          status: { text: evil, detail: evil, severity: 'warning' },
          timeline: [{ at: noon, agent: 'ada', server: evil, text: evil }],
        },
      ),
      { state: { timeline: 'open' } },
    );
    const seen = await page.evaluate(() => ({
      elements: document.querySelectorAll('img, b').length,
      texts: document.body.innerText.split('onerror=').length - 1,
    }));
    assert.deepStrictEqual(seen, { elements: 0, texts: 8 });
  });

  it('asks the host for what each button says', async () => {
    const { page, takeCommands } = await open(dark);
    const asked: Record<string, readonly unknown[]> = {};
    for (const name of [
      'Verify binding of bo',
      'Restart bo',
      'Attach to bo',
      'Reconnect bowline-self of bo',
      'Heal all 2 agents',
      'Restart all 2 agents',
    ]) {
      await page.getByRole('button', { name, exact: true }).click();
      asked[name] = await takeCommands();
    }
    const command = (name: string, agentName: string, server?: string): object => ({
      kind: 'command',
      command: name,
      agent: agentName,
      ...(server !== undefined && { server }),
    });
    assert.deepStrictEqual(asked, {
      'Verify binding of bo': [command('verify', 'bo')],
      'Restart bo': [command('restart', 'bo')],
      'Attach to bo': [command('attach', 'bo')],
      'Reconnect bowline-self of bo': [command('reconnect', 'bo', 'bowline-self')],
      'Heal all 2 agents': [{ kind: 'command', command: 'heal', agents: ['ada', 'bo'] }],
      'Restart all 2 agents': [command('restart', 'ada'), command('restart', 'bo')],
    });
  });

  it('says that it shows the last known state while the gateway is away, and refuses what then cannot be done', async () => {
    const { page, takeCommands } = await open(away);
    const banner = await page.getByRole('region', { name: 'Showing the last known state' }).innerText();
    for (const button of await page.getByRole('button').all()) await button.click({ force: true });
    const states = await page
      .getByRole('button')
      .evaluateAll((buttons) =>
        buttons.map(
          (button) => `${button.getAttribute('aria-label') ?? ''} ${button.getAttribute('aria-disabled') ?? ''}`,
        ),
      );
    assert.match(banner, /away since [\d: -]+ \(12 s ago\): connection refused/);
    assert.deepStrictEqual(
      [states, (await takeCommands()).map((message) => message.command)],
      [
        [
          'Show Log false',
          'Verify binding of ada. Not now: the gateway is away true',
          'Restart ada. Not now: the gateway is away true',
          'Attach to ada false',
          'Reconnect bowline-self of ada. Not now: the gateway is away true',
        ],
        ['showLog', 'attach'],
      ],
    );
  });

  it('is walked with the keyboard alone, with a focus that is seen', async () => {
    const { page, takeCommands } = await open(dark);
    const walked: string[] = [];
    for (let step = 0; step < 7; step++) {
      await page.keyboard.press('Tab');
      walked.push(await page.evaluate(() => window.focusedLook()));
    }
    await page.keyboard.press('Enter');
    const entered = await takeCommands();
    await page.keyboard.press('ArrowDown');
    const below = await page.evaluate(() => window.focusedLook());
    await page.keyboard.press('Space');
    await page.keyboard.press('Home');
    const first = await page.evaluate(() => window.focusedLook());
    await page.keyboard.press('Shift+Tab');
    const back = await page.evaluate(() => window.focusedLook());
    const seen = 'solid rgb(0, 120, 212)';
    assert.deepStrictEqual(
      { walked, entered, below, spaced: await takeCommands(), first, back },
      {
        walked: [
          `Heal all 2 agents, ${seen}`,
          `Restart all 2 agents, ${seen}`,
          `Verify binding of ada, ${seen}`,
          `Restart ada, ${seen}`,
          `Attach to ada, ${seen}`,
          `Reconnect bowline-self of ada, ${seen}`,
          `Verify binding of bo, ${seen}`,
        ],
        entered: [{ kind: 'command', command: 'verify', agent: 'bo' }],
        below: `Verify binding of cy, ${seen}`,
        spaced: [{ kind: 'command', command: 'verify', agent: 'cy' }],
        first: `Verify binding of ada, ${seen}`,
        back: `Restart all 2 agents, ${seen}`,
      },
    );
  });

  it("keeps the keyboard's place when the focused button goes with its warning", async () => {
    const { page, show } = await open(dark);
    await page.getByRole('button', { name: 'Heal all 2 agents' }).focus();
    await show(well, noon);
    const focused = await page.evaluate(() => document.activeElement?.textContent.trim());
    await page.keyboard.press('Tab');
    const next = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
    assert.deepStrictEqual([focused, next], ['3 bound', 'Verify binding of ada']);
  });

  it('announces a blackout and its end once, also over a reload', async () => {
    const first = await open(dark);
    await first.show(dark, noon);
    const heard = [await first.announcements()];
    await first.show(well, noon);
    await first.show(well, noon);
    heard.push(await first.announcements());
    await first.show(dark, noon);
    const again = await open(dark, { state: await first.state() });
    heard.push(await again.announcements());
    const lost = `ada and bo lost their tools. ${what}`;
    assert.deepStrictEqual(heard, [[lost], [lost, 'ada and bo have their tools again.'], []]);
  });

  it('keeps ages true by itself, and shows the present at once after it was hidden', async () => {
    const { page, setTime } = await open(well);
    const ages = async (): Promise<readonly string[]> => page.locator('bowline-ago').allTextContents();
    const texts = [await ages()];
    await setTime(noon + 50_000);
    await waitFor('the next second', async () => (await ages())[0] !== '3 s ago');
    texts.push(await ages());
    texts.push(
      await page.evaluate((later) => {
        // Fake: a headless page cannot be hidden. All in one task, so that no timer comes between.
        const set = (hidden: boolean): void => {
          Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        };
        set(true);
        Date.now = () => later;
        set(false);
        return [...document.querySelectorAll('bowline-ago')].map(({ textContent }) => textContent);
      }, noon + 7_200_000),
    );
    assert.deepStrictEqual(texts, [Array(3).fill('3 s ago'), Array(3).fill('53 s ago'), Array(3).fill('2 h ago')]);
  });

  it('shows 300 agents quickly and redraws only what changed', async () => {
    const { page, show } = await open();
    const started = Date.now();
    await show(many, noon);
    const drawn = Date.now() - started;
    const redrawn = await page.evaluateHandle(() => {
      const names = new Set<string>();
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const element = target instanceof Element ? target : target.parentElement;
          const isAge = element?.closest('bowline-ago') !== null;
          const name = element?.closest('.card')?.querySelector('h3')?.textContent;
          if (!isAge && name !== undefined) names.add(name);
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      return names;
    });
    const updateStarted = Date.now();
    await show(
      fleet([
        agent('zed'),
        ...many.agents.map((row) => (row.name === 'agent-250' ? { ...row, life: 'healing' as const } : row)),
      ]),
      noon,
    );
    const updated = Date.now() - updateStarted;
    const changed = await redrawn.evaluate((names) => [...names].sort());
    assert.deepStrictEqual(
      [await page.getByRole('heading', { level: 3 }).count(), changed],
      [301, ['agent-250', 'zed']],
    );
    assert.ok(drawn < 5_000 && updated < 3_000, `drawn in ${drawn} ms, updated in ${updated} ms`);
  });

  it('narrows many agents by words and by need, and keeps that over a reload', async () => {
    const first = await open(many);
    const names = async (page: OpenPage): Promise<readonly string[]> =>
      page.page.getByRole('heading', { level: 3 }).allTextContents();
    const count = async (): Promise<string> => first.page.getByRole('status').innerText();
    const counts = [await count()];
    await first.page.getByRole('searchbox', { name: 'Filter agents' }).fill('agent-2');
    await waitFor('the filter', async () => (await count()) !== counts[0]);
    counts.push(await count());
    await first.page.getByRole('checkbox', { name: 'Only those that need you (3)' }).check();
    await waitFor('the scope', async () => (await count()) !== counts[1]);
    counts.push(await count());
    const again = await open(many, { state: await first.state() });
    assert.deepStrictEqual(
      [counts, await names(first), await names(again), await again.page.getByRole('searchbox').inputValue()],
      [['300 agents', '111 of 300 agents', '1 of 300 agents'], ['agent-207'], ['agent-207'], 'agent-2'],
    );
  });

  it('opens the timeline on demand, newest first, not more than 100 lines, and keeps it open over a reload', async () => {
    const timeline = Array.from({ length: 400 }, (_, index) => ({
      at: noon - (400 - index) * 5_000,
      agent: 'ada',
      text: `event ${index}`,
    }));
    const view = fleet([agent('ada')], { timeline });
    const first = await open(view);
    const lines = first.page.getByRole('list', { name: 'Binding events, newest first' }).getByRole('listitem');
    const closed = await lines.count();
    await first.page.getByText('Timeline').focus();
    await first.page.keyboard.press('Enter');
    await lines.first().waitFor();
    const texts = await lines.allInnerTexts();
    const again = await open(view, { state: await first.state() });
    assert.deepStrictEqual(
      [closed, texts.length, /event \d+/.exec(texts[0] ?? '')?.[0], await again.page.getByText('event 399').count()],
      [0, 100, 'event 399', 1],
    );
  });

  it('takes every colour from the theme and follows its change', async () => {
    const { page, useTheme } = await open(dark);
    const used = async (): Promise<readonly string[]> =>
      page.evaluate(() => {
        const style = (selector: string): CSSStyleDeclaration =>
          getComputedStyle(document.querySelector(selector) ?? document.body);
        return [
          style('.summary').color,
          style('.box.error').backgroundColor,
          style('.box.error').borderTopColor,
          style('.button.primary').backgroundColor,
          style('.button.icon').color,
          style('.tone-error').color,
          style('.tone-good').color,
          style('.facts').color,
          style('.card').borderTopColor,
        ];
      });
    const wanted = (theme: Theme): readonly string[] =>
      [
        'sideBar-foreground',
        'inputValidation-errorBackground',
        'inputValidation-errorBorder',
        'button-background',
        'icon-foreground',
        'errorForeground',
        'testing-iconPassed',
        'descriptionForeground',
        theme.contrastBorder === undefined ? 'sideBarSectionHeader-border' : 'contrastBorder',
      ].map((name) => rgb(theme[name] ?? ''));
    const seen: (readonly string[])[] = [];
    for (const theme of Object.values(themes)) {
      await useTheme(theme);
      seen.push(await used());
    }
    assert.deepStrictEqual(seen, Object.values(themes).map(wanted));
  });

  it('fits a view of 200 pixels', async () => {
    const long = agent('a-name-of-thirty-two-characters-', {
      directory: `/home/person/${'very-long-folder-name/'.repeat(6)}and-a-last-folder-that-is-long-too`,
      endpoints: [unbound('never connected')],
      life: 'blocked',
      detail: 'x'.repeat(90),
    });
    const view = fleet([long, ...many.agents.slice(0, 9)], {
      status: { text: '1 lost tools: a-name-of-thirty-two-characters-', detail: '', severity: 'error' },
      blackouts: [blackout('never connected', [long.name])],
      timeline: [{ at: noon, agent: long.name, server: 'bowline-self', text: 'y'.repeat(90) }],
    });
    const { page } = await open(view, { width: 200, state: { timeline: 'open' } });
    const outside = await page.evaluate(() =>
      [...document.querySelectorAll('button, p, h2, h3, input, li, summary')]
        .filter((element) => element.closest('.visually-hidden') === null)
        .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth)
        .map((element) => element.outerHTML.slice(0, 80)),
    );
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.deepStrictEqual([outside, sideways > 0], [[], false]);
  });

  it('is small', async () => {
    const { size } = await stat(path.join(repository, 'dist/webview.js'));
    assert.ok(size <= 150 * 1024, `dist/webview.js has ${size} bytes`);
  });
});

function rgb(hex: string): string {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgb(${channels.join(', ')})`;
}
