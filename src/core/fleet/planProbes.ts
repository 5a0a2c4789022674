import { bindingTimes } from '../binding/times.ts';
import type { Effect } from './effects.ts';
import { type Agent, runningLaunch } from './agent.ts';
import type { FleetState } from './state.ts';

/** A probe is due when a stream was never probed in this epoch, when there is doubt, after a failure, and every 30 s. */
export function planProbes(
  state: FleetState,
  agent: Agent,
  server: string,
  now: number,
  wakes: number[],
): readonly Effect[] {
  const running = runningLaunch(agent);
  const record = agent.bindings[server];
  const epoch = state.epoch?.id;
  if (running === undefined || epoch === undefined || record?.launchId !== running.launch.id) return [];
  if (record.stream.kind !== 'open' || record.stream.epoch !== epoch) return [];
  const probe = record.probe?.epoch === epoch ? record.probe : undefined;
  const effect = (id: string): Effect => ({
    kind: 'probe',
    id,
    name: agent.name,
    server,
    launchId: running.launch.id,
  });
  const unique = `probe:${running.launch.id}:${server}:${epoch}`;
  // While a probe is under way it stays planned, under the same id: only its end changes the record.
  if (probe === undefined) return [effect(`${unique}:first`)];
  const next = `${unique}:${probe.sentAt}`;
  const inQuestionSince = Math.max(record.stream.since, record.doubt?.since ?? 0);
  if (probe.sentAt < inQuestionSince) {
    if (now >= inQuestionSince) return [effect(next)];
    // The clock was set back a little: any number of probes would come before that time.
    wakes.push(inQuestionSince);
    return [];
  }
  if (probe.failures > 0 && probe.failures < bindingTimes.probeFailures) return [effect(next)];
  const { probeEvery } = bindingTimes;
  const dueAt = (Math.floor(probe.sentAt / probeEvery) + 1) * probeEvery;
  if (now >= dueAt) return [effect(next)];
  wakes.push(dueAt);
  return [];
}
