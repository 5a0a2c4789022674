import { bindingTimes } from '../binding/times.ts';
import type { Effect } from './effects.ts';
import type { ProbeRecord } from '../binding/bindingRecord.ts';
import { type Agent, enabledServers, runningLaunch } from './agent.ts';
import type { FleetState } from './state.ts';

/**
 * A probe is due when a stream was never probed in this epoch, when there is doubt, after a failure, and every 30 s: then
 * of one endpoint of the process, by turns, because what answers for one is the process that answers for all, and a stream
 * that breaks is seen without a probe. When that one fails, all are probed at once.
 */
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
  // One that has failed for good takes no part, and may come back at any time.
  const isAlone = Object.keys(agent.bindings).length === 1;
  const others =
    isAlone || probe.failures > 0 ? [] : probesOfProcess(agent, epoch).filter((one) => one.server !== server);
  if (others.some(({ failures, sentAt }) => failures > 0 && sentAt > probe.sentAt)) return [effect(next)];
  const answered = others.filter(({ failures }) => failures === 0);
  const { probeEvery } = bindingTimes;
  const last = Math.max(probe.sentAt, ...answered.map(({ sentAt }) => sentAt));
  const dueAt = (Math.floor(last / probeEvery) + 1) * probeEvery;
  if (now < dueAt) {
    wakes.push(dueAt);
    return [];
  }
  const isBefore = (other: { readonly server: string; readonly sentAt: number }): boolean => {
    return other.sentAt === probe.sentAt ? other.server < server : other.sentAt < probe.sentAt;
  };
  return answered.some(isBefore) ? [] : [effect(next)];
}

/** The last probes of this run of the gateway, of all endpoints whose streams are open. */
function probesOfProcess(agent: Agent, epoch: string): readonly (ProbeRecord & { readonly server: string })[] {
  const launchId = runningLaunch(agent)?.launch.id;
  return enabledServers(agent).flatMap((server) => {
    const record = agent.bindings[server];
    if (record?.launchId !== launchId || record?.stream.kind !== 'open') return [];
    return record.stream.epoch === epoch && record.probe?.epoch === epoch ? [{ ...record.probe, server }] : [];
  });
}
