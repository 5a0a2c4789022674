import { deepStrictEqual } from 'node:assert/strict';
import { type Connection, select } from '../../../src/core/fleet/select.ts';
import { statusLook, statusReport } from '../../../src/extension/statusLook.ts';
import { FleetStory } from '../../harness/fleetStory.ts';

function shown(
  story: FleetStory,
  connection: Connection = { kind: 'connected' },
  problems: Parameters<typeof statusLook>[1] = {},
): unknown {
  const look = statusLook(select(story.state, connection, story.now), problems);
  return look === undefined ? 'hidden' : [look.text, look.background];
}

function fleet(): FleetStory {
  return FleetStory.bound().tell({ kind: 'hands changed', holder: 'window-1' });
}

describe('the status bar item', () => {
  it('is calm, neutral, or has a background', () => {
    const { now } = fleet();
    const blocked = fleet().create('bo').request('bo').launched('bo');
    blocked.tell({ kind: 'screen read', name: 'bo', launchId: 'bo.1', dialog: 'trust' });
    deepStrictEqual(
      [
        shown(fleet()),
        shown(fleet(), { kind: 'away', since: now, reason: 'gone' }),
        shown(fleet(), { kind: 'away', since: now - 2_000, reason: 'gone' }),
        shown(blocked),
        shown(fleet().dropStream().wait(14_000)),
      ],
      [
        ['$(link) 1 bound', 'none'],
        ['$(sync~spin) reconnecting', 'none'],
        ['$(error) gateway down', 'error'],
        ['$(warning) 1 bound, 1 needs you: bo', 'warning'],
        ['$(error) 1 lost tools: ada', 'error'],
      ],
    );
  });

  it('is hidden without agents, unless the gateway cannot be started', () => {
    const away: Connection = { kind: 'away', since: 0, reason: 'gone' };
    deepStrictEqual(
      [
        shown(new FleetStory()),
        shown(new FleetStory(), away),
        shown(new FleetStory(), away, { startProblem: 'no Node' }),
      ],
      ['hidden', 'hidden', ['$(error) gateway down', 'error']],
    );
  });

  it('says in the tooltip, and to a screen reader, why things wait', () => {
    const story = fleet();
    const view = select(story.state, { kind: 'connected' }, story.now);
    const look = statusLook(view, { handsProblem: 'tmux was not found.' });
    deepStrictEqual(
      [look?.lines, look?.accessibleLabel],
      [['Bowline: 1 bound', 'tmux was not found.'], 'Bowline: 1 bound, tmux was not found.'],
    );
  });

  it('has a tooltip that names who waits, each with its command, and what can be done for all', () => {
    const story = fleet().hook({ event: 'UserPromptSubmit' }).hook({ event: 'Notification', waitingFor: 'permission' });
    story.create('bo').request('bo').launched('bo');
    story.tell({ kind: 'screen read', name: 'bo', launchId: 'bo.1', dialog: 'trust' });
    const view = select(story.state, { kind: 'connected' }, story.now);
    const look = statusLook(view, {});
    const report = look === undefined ? [] : statusReport(view, look);
    deepStrictEqual(
      report.map(({ text, links }) => [text, ...links.map(({ command, agent }) => [command, agent].join(' ').trim())]),
      [
        ['Bowline: 1 bound, 2 need you: ada, bo'],
        ['ada is waiting for permission', 'bowline.attach ada'],
        ['bo is blocked: waits at a dialog (trust): attach and answer it', 'bowline.attach bo'],
        ['', 'bowline.nextWaiting', 'bowline.verifyAll', 'bowline.showCauses', 'bowline.doctor'],
      ],
    );
  });

  it('offers Heal All in the tooltip when tools are lost, and names at most eight agents', () => {
    const story = fleet().dropStream().wait(14_000);
    for (let index = 0; index < 10; index += 1) {
      const name = `d${index}`;
      story.create(name).request(name).launched(name);
      story.tell({ kind: 'screen read', name, launchId: `${name}.1`, dialog: 'trust' });
    }
    const view = select(story.state, { kind: 'connected' }, story.now);
    const look = statusLook(view, {});
    const report = look === undefined ? [] : statusReport(view, look);
    deepStrictEqual(
      [report.at(-2)?.text, report.at(-1)?.links[0]?.command, report.filter(({ links }) => links.length === 1).length],
      ['2 more wait for you.', 'bowline.healAll', 8],
    );
  });
});
