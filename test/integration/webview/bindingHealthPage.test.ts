import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { causeText } from '../../../src/core/binding/causes.ts';
import type { FleetView } from '../../../src/core/fleet/select.ts';
import { repository } from '../../host/setup.mjs';
import { agent, blackout, endpoint, fleet, noon, unbound } from '../../unit/webview/fleetViews.ts';
import { waitFor } from '../../harness/waitFor.ts';
import type { OpenPage } from './pageRig.ts';
import { usePages } from './pages.ts';

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
  const open = usePages();

  it('asks for the present, and says that it connects until it is known which agents there are', async () => {
    const { page, messages, show, takeCommands } = await open();
    const text = async (): Promise<string> => page.getByRole('main').innerText();
    const texts = [await text()];
    await show(fleet([], { connection: { kind: 'away', since: noon, reason: 'it is being started' } }), noon, {
      opening: { kind: 'connecting' },
    });
    texts.push(await text());
    const asked = await messages();
    await show(fleet([]), noon);
    texts.push(await text());
    await page.getByRole('button', { name: 'New Agent' }).click();
    assert.deepStrictEqual(
      [asked, texts.map((one) => one.split('\n').filter((line) => line !== '')[1]), await takeCommands()],
      [
        [{ kind: 'ready' }],
        ['Connecting to the gateway…', 'Connecting to the gateway…', 'No agents yet'],
        [{ kind: 'command', command: 'newAgent' }],
      ],
    );
  });

  it('says why the gateway does not start, and leads to the log', async () => {
    const { page, takeCommands } = await open(fleet([]), {
      told: { opening: { kind: 'cannot start', sentence: 'No directory can be written.' } },
    });
    const box = page.getByRole('region', { name: 'The gateway does not start' });
    await box.getByText('No directory can be written. Bowline keeps trying.').waitFor();
    await box.getByRole('button', { name: 'Show Log' }).click();
    assert.deepStrictEqual(await takeCommands(), [{ kind: 'command', command: 'showLog' }]);
  });

  it('tells screen readers the warning first, then each agent and its endpoints with their states in words', async () => {
    const { page } = await open(dark);
    const snapshot = await page.getByRole('main').ariaSnapshot();
    const row = (name: string, life: string, cell: string): string[] => [
      `    - row "${name} ${life} ${cell}":`,
      `      - rowheader "${name} ${life}"`,
      `      - gridcell "${cell}"`,
    ];
    assert.deepStrictEqual(
      snapshot.split('\n').map((line) => line.replace(/^ {2}/, '')),
      [
        '- main "Binding Health":',
        '- heading "Binding Health" [level=1]',
        '- paragraph: "Error: 2 lost tools: ada, bo"',
        '- \'button "2 agents have problems: go to the next"\': "2"',
        `- 'region "Blackout: 2 agents lost their tools"':`,
        `  - 'heading "Blackout: 2 agents lost their tools" [level=2]'`,
        '  - paragraph:',
        '    - button "ada"',
        '    - button "bo"',
        `  - paragraph: ${what}`,
        `  - paragraph: "Next: ${nextStep}"`,
        '  - paragraph:',
        '    - button "Heal 2 Agents"',
        '    - button "Restart 2 Agents"',
        '- region "Agents":',
        '  - heading "Agents" [level=2]',
        '  - list "Endpoints by state":',
        '    - listitem: 2 unbound',
        '    - listitem: 1 bound',
        '  - grid "Agents and their MCP servers":',
        '    - row "Agent self":',
        '      - columnheader "Agent"',
        '      - columnheader "self"',
        ...row('ada', 'idle', 'unbound'),
        ...row('bo', 'idle', 'unbound'),
        ...row('cy', 'busy', 'bound 4 ms'),
        '- group: Timeline',
        '- log "Announcements":',
        `  - paragraph: ada and bo lost their tools. ${what}`,
      ],
    );
  });

  it('never takes a text for HTML', async () => {
    const evil = '<img src=x onerror="window.pwned=1"><b>x</b>';
    const row = agent('ada', {
      directory: `/${evil}`,
      life: 'blocked',
      detail: evil,
      endpoints: [endpoint({ cause: evil, nextStep: evil })],
    });
    const { page } = await open(
      fleet([row, agent('bo')], {
        status: { text: evil, detail: evil, severity: 'warning' },
        timeline: [{ at: noon, agent: 'cy', server: evil, text: evil }],
      }),
      { state: { timeline: 'open', selected: { agent: 'ada', server: 'bowline-self' } } },
    );
    const seen = await page.evaluate(() => ({
      elements: document.querySelectorAll('img, b').length,
      texts: document.body.innerText.split('onerror=').length - 1,
    }));
    // Status and its detail, cause, next step, detail of the agent, directory, event and its server.
    assert.deepStrictEqual(seen, { elements: 0, texts: 8 });
  });

  it('asks the host for what each button says', async () => {
    const { page, takeCommands } = await open(dark);
    await page.getByRole('button', { name: 'bo', exact: true }).click();
    const asked: Record<string, readonly unknown[]> = {};
    for (const name of [
      'Heal Now: bo',
      'Reconnect MCP: bowline-self of bo',
      'Verify binding of bo',
      'Restart bo',
      'Attach to bo',
      'Heal 2 Agents',
      'Restart 2 Agents',
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
      'Heal Now: bo': [{ kind: 'command', command: 'heal', agents: ['bo'] }],
      'Reconnect MCP: bowline-self of bo': [command('reconnect', 'bo', 'bowline-self')],
      'Verify binding of bo': [command('verify', 'bo')],
      'Restart bo': [command('restart', 'bo')],
      'Attach to bo': [command('attach', 'bo')],
      'Heal 2 Agents': [{ kind: 'command', command: 'heal', agents: ['ada', 'bo'] }],
      'Restart 2 Agents': [command('restart', 'ada'), command('restart', 'bo')],
    });
  });

  it('says that it shows the last known state while the gateway is away, and refuses what then cannot be done', async () => {
    const { page, takeCommands } = await open(away);
    const banner = await page.getByRole('region', { name: 'Showing the last known state' }).innerText();
    const buttons = page.getByRole('button').filter({ hasNot: page.locator('.codicon-close') });
    for (const button of await buttons.all()) await button.click({ force: true });
    const states = await buttons.evaluateAll((all) =>
      all.map((button) => `${button.getAttribute('aria-label') ?? ''} ${button.getAttribute('aria-disabled') ?? ''}`),
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
          'Reconnect MCP: bowline-self of ada. Not now: the gateway is away true',
        ],
        ['showLog', 'attach'],
      ],
    );
  });

  it('changes no cell for a gateway that is away for a moment', async () => {
    const { page, change } = await open(well);
    const states = async (): Promise<readonly string[]> => page.locator('.word').allInnerTexts();
    const seen = [await states()];
    const rows = well.agents.map((row) => ({ ...row, endpoints: [endpoint({ state: 'gateway down' })] }));
    const gone = { kind: 'away', since: noon, reason: 'connection refused' } as const;
    await change(
      fleet(rows, { connection: gone, status: { text: 'reconnecting', detail: '', severity: 'neutral' } }),
      noon + 500,
    );
    seen.push(await states());
    await change(
      fleet(rows, { connection: gone, status: { text: 'gateway down', detail: '', severity: 'error' } }),
      noon + 2_500,
    );
    seen.push(await states());
    assert.deepStrictEqual(seen, [
      ['bound', 'bound', 'bound'],
      ['bound', 'bound', 'bound'],
      ['gateway down', 'gateway down', 'gateway down'],
    ]);
  });

  it("keeps the keyboard's place when the focused button goes with its warning", async () => {
    const { page, show } = await open(dark);
    await page.getByRole('button', { name: 'Heal 2 Agents' }).focus();
    await show(well, noon);
    const focused = await page.evaluate(() => document.activeElement?.textContent.trim());
    await page.keyboard.press('Tab');
    const next = await page.evaluate(() => document.activeElement?.querySelector('.name')?.textContent);
    assert.deepStrictEqual([focused, next], ['3 bound', 'ada']);
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
    const { page, setTime } = await open(fleet([agent('ada')]));
    const age = async (): Promise<string | null> => page.locator('bowline-ago').textContent();
    const texts = [await age()];
    await setTime(noon + 50_000);
    await waitFor('the next second', async () => (await age()) !== '3 s ago');
    texts.push(await age());
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
        return document.querySelector('bowline-ago')?.textContent ?? '';
      }, noon + 7_200_000),
    );
    assert.deepStrictEqual(texts, ['3 s ago', '53 s ago', '2 h ago']);
  });

  it('redraws of 300 agents only those that changed', async () => {
    const { page, change } = await open(many);
    const redrawn = await page.evaluateHandle(() => {
      const names = new Set<string>();
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const element = target instanceof Element ? target : target.parentElement;
          const name = element?.closest('bowline-agent-row')?.querySelector('.name')?.textContent;
          if (name !== undefined) names.add(name);
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
      return names;
    });
    const rows = many.agents.map((row) => (row.name === 'agent-250' ? { ...row, life: 'healing' as const } : row));
    // The first in the grid is what the tab key leads to: the former first loses that.
    await change(fleet([agent('zed'), ...rows]), noon);
    const changed = await redrawn.evaluate((names) => [...names].sort());
    assert.deepStrictEqual([await page.locator('.name').count(), changed], [301, ['agent-0', 'agent-250', 'zed']]);
  });

  it('narrows many agents by words and by need, and keeps that over a reload', async () => {
    const first = await open(many);
    const names = async (page: OpenPage): Promise<readonly string[]> => page.page.locator('.name').allTextContents();
    const count = async (): Promise<string> => first.page.getByRole('status').innerText();
    const counts = [await count()];
    await first.page.getByRole('searchbox', { name: /Filter agents/ }).fill('agent-2');
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
    const list = first.page.getByRole('list', { name: 'Binding events, newest first' });
    const lines = list.getByRole('listitem');
    const closed = await lines.count();
    await first.page.getByText('Timeline').focus();
    await first.page.keyboard.press('Enter');
    await lines.first().waitFor();
    const texts = await lines.allInnerTexts();
    const again = await open(view, { state: await first.state() });
    assert.deepStrictEqual(
      [
        closed,
        texts.length,
        /event \d+/.exec(texts[0] ?? '')?.[0],
        await again.page.locator('.timeline').getByText('event 399').count(),
      ],
      [0, 100, 'event 399', 1],
    );
  });

  it('is small', async () => {
    const { size } = await stat(path.join(repository, 'dist/webview.js'));
    assert.ok(size <= 150 * 1024, `dist/webview.js has ${size} bytes`);
  });
});
