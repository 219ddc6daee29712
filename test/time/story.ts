import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventOf, Topic } from '@vigil/events';
import type { LogRecord } from '@vigil/stream';
import { openSystem, type TestSystem, until } from '../support/system.ts';
import { type Agent, agentsOf } from './agents.ts';
import { commit, type Fault } from './faults.ts';
import { deserved, type Finding, findings, followFindings } from './findings.ts';
import { sendToGateway, sendToKafka } from './heartbeat-sender.ts';
import { runCounting } from './supervised.ts';

export type Suffered = Fault & { readonly from: number; readonly to: number };
/** The events of the story, and the records of its log when time has been stopped. */
export type Story = {
  readonly t: TestSystem;
  readonly agents: readonly Agent[];
  readonly suffered: readonly Suffered[];
  readonly findings: readonly Finding[];
  readonly records: readonly LogRecord[];
  /** the longest pause of this process, which sends for all agents */
  readonly longestStallMs: number;
  readonly observations: readonly (EventOf<typeof Topic.agentObservation> & { readonly record: LogRecord })[];
};

export const COUNTING = 'counting';
const GAPS_MS: readonly number[] = [3500, 2000, 5000, 800];

/** The next agents to hang: two that send directly to Kafka, and one through the gateway. */
const victims = (agents: readonly Agent[]): readonly Agent[] => {
  const well = (ingress: Agent['ingress']) =>
    agents.filter((agent) => agent.ingress === ingress && agent.hungIn === null);
  return [...well('kafka').slice(0, 2), ...well('gateway').slice(0, 1)];
};

/** One fault after another. In the middle of each, agents hang for good. */
const suffer = async (t: TestSystem, agents: readonly Agent[], faults: readonly Fault[]): Promise<Suffered[]> => {
  const suffered: Suffered[] = [];
  for (const [i, fault] of faults.entries()) {
    await sleep(GAPS_MS[i % GAPS_MS.length]);
    const from = Date.now();
    const hanging = sleep(fault.seconds * 150).then(() => {
      for (const agent of victims(agents)) agent.hungIn = i;
    });
    await Promise.all([commit(fault, t, i), hanging]);
    suffered.push({ ...fault, from, to: Date.now() });
  }
  return suffered;
};

const known = async (t: TestSystem): Promise<number> =>
  (await t.events(Topic.agentHealth)).filter(({ type }) => type === 'INSTANCE_STARTED').length;

/** Whether all expected findings have been emitted. */
const areFound = (agents: readonly Agent[], output: readonly Finding[]): boolean => {
  const recorded = new Set(output.map(({ agentId, what }) => `${agentId} ${what}`));
  return agents.every(
    (agent) => agent.hungIn === null || deserved(agent).every((w) => recorded.has(`${agent.id} ${w}`)),
  );
};

const lastTicks = (records: readonly LogRecord[]): string =>
  JSON.stringify(
    [...new Map(records.flatMap((r) => (r.key?.startsWith('@tick/') ? [[r.key, r.timestamp]] : [])))].sort(),
  );

/** Stops the ticks, and waits until the evaluator has read everything. */
const stopTime = async (t: TestSystem): Promise<readonly LogRecord[]> => {
  await t.system.service('heartbeat-ingest').stop();
  const records = await t.records(Topic.agentObservation);
  const end = lastTicks(records);
  await until('the evaluator has read everything', async () => lastTicks(await t.records(Topic.agentHealth)) === end);
  return records;
};

/** A fleet sends heartbeats while the servers and services come and go. */
export const live = async (name: string, agents: readonly Agent[], faults: readonly Fault[]): Promise<Story> => {
  const t = await openSystem({ name, services: ['heartbeat-ingest', 'health-evaluator', 'gateway'] });
  try {
    const { VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token } = t.system.env;
    const [kafka, gateway] = (['kafka', 'gateway'] as const).map((ingress) =>
      agents.filter((a) => a.ingress === ingress),
    );
    const following = new AbortController();
    const found = await followFindings(t, following.signal);
    const stalls = monitorEventLoopDelay();
    stalls.enable();
    const counting = runCounting(t, COUNTING);
    const senders = [await sendToKafka(t.log, kafka ?? []), sendToGateway(url, token, gateway ?? [])];
    await until('every agent is known', async () => (await known(t)) > agents.length);
    const suffered = await suffer(t, agents, faults);
    await until('every hang is found', async () => areFound(agents, found), 120_000).catch(() => undefined);
    following.abort();
    stalls.disable();
    const records = await stopTime(t);
    await Promise.all([counting.stop(), ...senders.map((one) => one.stop())]);
    const observations = await t.events(Topic.agentObservation);
    const longestStallMs = Math.round(stalls.max / 1e6);
    return { t, agents, suffered, findings: await findings(t), records, observations, longestStallMs };
  } catch (error) {
    await t.stop();
    throw error;
  }
};

export const fleetFor = (faults: readonly Fault[]): Agent[] => agentsOf(180 + 2 * faults.length, 60 + faults.length);
