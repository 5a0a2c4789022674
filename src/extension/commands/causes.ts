import type { AgentRow, FleetView } from '../../core/fleet/select.ts';
import { namesToHeal } from '../healProgress.ts';
import { settingNamedIn } from '../namedSetting.ts';
import type { CommandId } from './commandIds.ts';

/** A line of the list behind the status bar: something to know, or something to do. */
export type CauseLine =
  | { readonly kind: 'heading'; readonly label: string }
  | { readonly kind: 'cause'; readonly label: string; readonly detail: string }
  | { readonly kind: 'action'; readonly label: string; readonly detail: string; readonly action: CauseAction };

export type CauseAction =
  | { readonly kind: 'command'; readonly command: CommandId; readonly agent?: string; readonly server?: string }
  | { readonly kind: 'open setting'; readonly setting: string }
  | { readonly kind: 'try again' };

/** Causes and actions for a view; `startProblem`: why the gateway could not be started. */
export function causeLines(view: FleetView, startProblem: string | undefined): readonly CauseLine[] {
  const troubled = view.agents.filter(isTroubled);
  const isAway = view.connection.kind === 'away';
  const causes: CauseLine[] = [
    ...view.blackouts.map(({ agents, what, nextStep }): CauseLine => {
      return { kind: 'cause', label: `$(debug-disconnect) ${agents.join(', ')}: ${what}`, detail: nextStep };
    }),
    ...(view.connection.kind === 'away'
      ? [
          {
            kind: 'cause',
            label: `$(debug-disconnect) The gateway is away: ${view.connection.reason}`,
            detail: startProblem ?? 'Bowline starts it again and then heals the agents.',
          } as const,
        ]
      : []),
    ...view.agents
      .filter(({ life }) => life === 'blocked' || life === 'dead')
      .map(({ name, life, detail }): CauseLine => {
        return { kind: 'cause', label: `$(warning) ${name} is ${life}`, detail };
      }),
  ];
  const nothing: CauseLine = { kind: 'cause', label: '$(pass) Nothing is wrong', detail: view.status.text };
  return [
    { kind: 'heading', label: 'Causes' },
    ...(causes.length === 0 ? [nothing] : causes),
    { kind: 'heading', label: 'Actions' },
    ...(isAway ? [{ ...tryAgain, detail: '' }] : []),
    ...(isAway ? [] : healing(view)),
    ...(isAway ? [] : troubled.flatMap(reconnects)),
    ...troubled.flatMap((row) => agentActions(row)),
    {
      kind: 'action',
      label: '$(output) Show Log',
      detail: '',
      action: { kind: 'command', command: 'bowline.showLog' },
    },
  ];
}

const tryAgain = {
  kind: 'action',
  label: '$(refresh) Start the Gateway Now',
  action: { kind: 'try again' },
} as const;

function isTroubled({ life, worst }: AgentRow): boolean {
  if (life === 'blocked' || life === 'dead') return true;
  return worst !== 'bound' && worst !== 'off';
}

function healing(view: FleetView): readonly CauseLine[] {
  const names = namesToHeal(view);
  if (names.length === 0) return [];
  const label = names.length === 1 ? `$(heart) Heal ${names[0] ?? ''} Now` : `$(heart) Heal All (${names.length})`;
  return [{ kind: 'action', label, detail: '', action: { kind: 'command', command: 'bowline.healAll' } }];
}

function reconnects(row: AgentRow): readonly CauseLine[] {
  return row.endpoints
    .filter(
      ({ state }) => state === 'unbound' || state === 'not checkable' || state === 'suspect' || state === 'degraded',
    )
    .map(({ server, cause, state, upstream }) => {
      const isOfUpstream = state === 'degraded' && upstream !== undefined;
      const what = isOfUpstream ? '$(refresh) Reconnect Upstream' : '$(plug) Reconnect MCP';
      const command = isOfUpstream ? 'bowline.reconnectUpstream' : 'bowline.reconnectMcp';
      return {
        kind: 'action',
        label: `${what} ${server} for ${row.name}`,
        detail: cause,
        action: { kind: 'command', command, agent: row.name, server },
      };
    });
}

function agentActions({ name, life, detail, worst, poison, blockedBy }: AgentRow): readonly CauseLine[] {
  const action = (label: string, command: CommandId, about = ''): CauseLine => {
    return {
      kind: 'action',
      label: `${label} ${name}`,
      detail: about,
      action: { kind: 'command', command, agent: name },
    };
  };
  if (poison !== undefined) {
    return [
      action('$(discard) Force Fresh Restart', 'bowline.forceFreshRestart', 'Begins a new conversation.'),
      action('$(repo-forked) Fork Conversation of', 'bowline.forkConversation', 'A copy without the bad turn goes on.'),
      action('$(debug-continue) Keep Trying with', 'bowline.keepTrying', 'The conversation goes on as it is.'),
      action('$(terminal) Attach', 'bowline.attach', detail),
    ];
  }
  if (blockedBy === 'resume failed') {
    return [
      action('$(discard) Force Fresh Restart', 'bowline.forceFreshRestart', 'Begins a new conversation.'),
      action('$(history) Resume Other Conversation with', 'bowline.resumeOtherConversation'),
      action('$(go-to-file) Open Transcript of', 'bowline.openTranscript'),
      action('$(play) Resume', 'bowline.start', 'Tries the same conversation again.'),
    ];
  }
  const setting = settingNamedIn(detail);
  const settings: readonly CauseLine[] =
    setting === undefined
      ? []
      : [{ kind: 'action', label: `$(gear) Open ${setting}`, detail: '', action: { kind: 'open setting', setting } }];
  if ((life === 'dead' || life === 'blocked') && worst === 'off') {
    return [action('$(play) Resume', 'bowline.start'), ...settings];
  }
  return [
    action('$(terminal) Attach', 'bowline.attach', life === 'blocked' || life === 'dead' ? detail : ''),
    ...settings,
    action('$(debug-restart) Restart', 'bowline.restart'),
    action('$(pulse) Verify Binding of', 'bowline.verifyBinding'),
  ];
}
