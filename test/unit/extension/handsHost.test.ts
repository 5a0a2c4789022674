import { deepStrictEqual } from 'node:assert/strict';
import { Emitter } from '../../../src/base/events.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Connection } from '../../../src/core/fleet/select.ts';
import { emptyFleet, type FleetState } from '../../../src/core/fleet/state.ts';
import { HandsHost } from '../../../src/extension/handsHost.ts';
import type { HandsStatus } from '../../../src/node/hands/hands.ts';
import type { HandsTask } from '../../../src/protocol/stream.ts';

/** What fake hands and a fake stream did, in order. */
class Stage {
  readonly log: string[] = [];
  readonly changed = new Emitter<undefined>();
  readonly tasks = new Emitter<readonly HandsTask[]>();
  readonly statuses = new Emitter<HandsStatus>();
  status: HandsStatus = { kind: 'waiting' };
  state: FleetState = emptyFleet;
  connection: Connection = { kind: 'connected' };
  readonly host = new HandsHost(this.source(), 'window-1', () => this.hands(), silentLog);

  lend(holder: string | undefined): void {
    this.state = holder === undefined ? emptyFleet : { ...emptyFleet, hands: { holder, since: 1 } };
    this.changed.fire(undefined);
  }

  connect(connection: Connection['kind']): void {
    this.connection = connection === 'connected' ? { kind: 'connected' } : { kind: 'away', since: 1, reason: 'gone' };
    this.changed.fire(undefined);
  }

  give(...ids: string[]): void {
    this.tasks.fire(ids.map((id) => ({ kind: 'end', id, name: 'ada', launchId: 'ada.1' })));
  }

  /** Like the getters of the client: what they give changes. */
  private source(): ConstructorParameters<typeof HandsHost>[0] {
    return Object.defineProperties(
      { state: this.state, connection: this.connection, onDidChange: this.changed.event, onTasks: this.tasks.event },
      { state: { get: () => this.state }, connection: { get: () => this.connection } },
    );
  }

  private hands(): ReturnType<ConstructorParameters<typeof HandsHost>[2]> {
    this.log.push('made');
    return Object.defineProperty(
      {
        status: this.status,
        onStatus: this.statuses.event,
        setTasks: (tasks: readonly HandsTask[]) => this.log.push(`tasks ${tasks.map(({ id }) => id).join(' ')}`.trim()),
        interrupt: () => this.log.push('interrupted'),
        fleetChanged: () => this.log.push('fleet changed'),
        dispose: () => this.log.push('disposed'),
      },
      'status',
      { get: () => this.status },
    );
  }
}

describe('the hands of a window', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => {
    stage.host.dispose();
  });

  it('are made with the first tasks, told of changes, and given back when another window has them', () => {
    stage.lend('window-1');
    stage.give('a');
    stage.lend('window-1');
    stage.give('a', 'b');
    stage.lend('window-2');
    deepStrictEqual(stage.log, ['made', 'tasks a', 'fleet changed', 'tasks a b', 'disposed']);
  });

  it('stay while the gateway is away for a moment, and begin their tasks anew', () => {
    stage.lend('window-1');
    stage.give('a');
    stage.connect('away');
    stage.changed.fire(undefined);
    stage.connect('connected');
    stage.give('a');
    deepStrictEqual(stage.log, ['made', 'tasks a', 'interrupted', 'fleet changed', 'tasks a']);
  });

  it('take up a changed setting with the same tasks', () => {
    stage.host.renew();
    stage.give('a');
    stage.host.renew();
    deepStrictEqual(stage.log, ['made', 'tasks a', 'disposed', 'made', 'tasks a']);
  });

  it('say why tasks wait, and that tmux is driven over pipes', () => {
    const problems: (string | undefined)[] = [stage.host.problem];
    stage.host.onStatus(() => problems.push(stage.host.problem));
    const told = (status: HandsStatus): void => {
      stage.status = status;
      stage.statuses.fire(status);
    };
    stage.give();
    told({ kind: 'away', sentence: 'no server' });
    stage.give('a');
    told({ kind: 'away', sentence: 'tmux was not found.' });
    told({ kind: 'ready', transport: 'pipes', fallback: 'node-pty does not load' });
    told({ kind: 'ready', transport: 'pty' });
    deepStrictEqual(problems, [
      undefined,
      undefined,
      'tmux was not found.',
      'tmux is driven over pipes instead of a pseudo terminal: node-pty does not load',
      undefined,
    ]);
  });

  it('are given back with the window', () => {
    stage.give('a');
    stage.host.dispose();
    stage.host.dispose();
    deepStrictEqual(stage.log, ['made', 'tasks a', 'disposed']);
  });
});
