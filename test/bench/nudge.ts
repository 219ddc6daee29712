import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '@vigil/dev';
import { type Heartbeat, Topic } from '@vigil/events';
import { openSystem } from '../support/system.ts';
import { watchCpu } from './support/cpu.ts';
import { processes, RUNS } from './support/ground.ts';
import { recordOf, working } from './support/heartbeats.ts';
import { print, quantile, report } from './support/report.ts';

/**
 * Measures the time from the moment at which an agent exceeds its policy's limit of silence until its runtime has the
 * nudge. 1,000 agents send a heartbeat every second, every service runs, and two agents become silent each second. Also
 * measures the time until the decision can be read, and the time from the tick that judged the agent, which comes up to
 * a second after the crossing.
 */
const AGENTS = 1_000;
const SILENT_A_SECOND = 2;
const FOR_S = 30;
const WARM_S = 5;
const STEP_MS = 10;
/** The policy's limit, plus the millisecond above it. */
const CROSSED_MS = 6_001;
const SETTLE_MS = 20_000;
const RUNTIME = 'runtime-1';

const test = await openSystem({
  name: 'bench-nudge',
  policy: 'nudging',
  env: { VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies') },
});
const { log, servers, system } = test;
const partitions = await log.partitionCount(Topic.heartbeat);
const stopping = new AbortController();

/** When each silent agent did its last work, by its own clock, which is this machine's. */
const silentSince = new Map<string, number>();
const crossedAt = (agentId: string): number => (silentSince.get(agentId) ?? Number.NaN) + CROSSED_MS;

/** The runtime keeps sending heartbeats for a silent agent. */
const heartbeatOf = (agent: string, n: number): Heartbeat => {
  const since = silentSince.get(agent);
  const all = working(agent, n, Date.now());
  // An agent that falls silent in the middle of a call is exempt until its deadline.
  const heartbeat = { ...all, tool_calls: all.tool_calls.filter(({ outcome }) => outcome !== 'running') };
  if (since === undefined) return heartbeat;
  return {
    ...heartbeat,
    reporter: 'runtime',
    agent_heartbeat_at: since,
    tool_calls: [],
    output: null,
    last_tool_call: since,
  };
};

const beating = async (): Promise<void> => {
  const begun = performance.now();
  for (let sent = 0; !stopping.signal.aborted; await sleep(STEP_MS)) {
    const due = Math.floor(((performance.now() - begun) * AGENTS) / 1_000);
    const heartbeats = Array.from({ length: due - sent }, (_, i) => sent + i);
    sent = due;
    if (heartbeats.length === 0) continue;
    const records = heartbeats.map((n) =>
      recordOf(log, partitions, heartbeatOf(`agent-${n % AGENTS}`, Math.floor(n / AGENTS) + 1)),
    );
    await log.write(records);
  }
};

type Offered = { readonly type: string; readonly payload: { readonly orderId: string; readonly agentId: string } };
const headers = { authorization: `Bearer ${system.env.VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' };

/** The runtime's order executor: polls for orders, and answers each at once; the agent then works again. */
const startExecutor = async (onNudge: (agentId: string) => void): Promise<void> => {
  while (!stopping.signal.aborted) {
    const url = `${system.env.VIGIL_GATEWAY_URL}/v1/runtimes/${RUNTIME}/orders?wait=5`;
    const { orders } = (await (await fetch(url, { headers })).json()) as { orders: readonly Offered[] };
    const nudges = orders.filter(({ type }) => type === 'NUDGE_AGENT').map(({ payload }) => payload);
    for (const { agentId } of nudges) onNudge(agentId);
    const receipts = nudges.map((order) => ({
      type: 'ORDER_RECEIPT',
      payload: { ...order, runtimeId: RUNTIME, kind: 'nudge', outcome: 'delivered', at: Date.now() },
    }));
    if (receipts.length > 0)
      await fetch(`${system.env.VIGIL_GATEWAY_URL}/v1/receipts`, {
        method: 'POST',
        headers,
        body: JSON.stringify(receipts),
      });
  }
};

type Run = { readonly found: number[]; readonly nudged: number[]; readonly afterTick: number[] };

let run: Run = { found: [], nudged: [], afterTick: [] };
/** The tick that judged an agent, and the nudge; the second of the two ends the measurement. */
const ticks = new Map<string, number>();
const nudges = new Map<string, number>();
const measureTick = (agentId: string): void => {
  const [tick, nudge] = [ticks.get(agentId), nudges.get(agentId)];
  if (tick === undefined || nudge === undefined) return;
  run.afterTick.push(nudge - tick);
  ticks.delete(agentId);
  nudges.delete(agentId);
};
const onNudge = (agentId: string): void => {
  if (!silentSince.has(agentId)) return;
  run.nudged.push(Date.now() - crossedAt(agentId));
  silentSince.delete(agentId);
  nudges.set(agentId, Date.now());
  measureTick(agentId);
};
/** `tick`: the time of the decision, on the broker's clock, which is this machine's. */
const onStuck = (agentId: string, tick: number): void => {
  if (silentSince.has(agentId)) run.found.push(Date.now() - crossedAt(agentId));
  ticks.set(agentId, tick);
  measureTick(agentId);
};

const reading = log.follow(
  [Topic.agentHealth],
  'end',
  ({ key, value }) => {
    if (key === null || value === null || key.startsWith('@')) return;
    const { type, payload, envelope } = log.codec.decode(Topic.agentHealth, value);
    if (type === 'HEALTH_STATE_CHANGED' && (payload as { to: string }).to === 'STUCK')
      onStuck(key, envelope?.occurredAt ?? Number.NaN);
  },
  stopping.signal,
);
const background = [beating(), startExecutor(onNudge)];
await reading;
await sleep((WARM_S + CROSSED_MS / 1_000) * 1_000);

const runs: Run[] = [];
const missing: number[] = [];
const cpu = new Map<string, number[]>();
let next = 0;
for (let count = 1; count <= RUNS; count++) {
  run = { found: [], nudged: [], afterTick: [] };
  const spent = watchCpu(new Map([...processes(servers, system, SERVICES), ['load and executor', process.pid]]));
  for (let second = 0; second < FOR_S; second++) {
    for (let i = 0; i < SILENT_A_SECOND; i++) silentSince.set(`agent-${(next++ * 7) % AGENTS}`, Date.now());
    await sleep(1_000);
  }
  for (const end = Date.now() + SETTLE_MS; silentSince.size > 0 && Date.now() < end; ) await sleep(100);
  for (const [name, share] of spent()) cpu.set(name, [...(cpu.get(name) ?? []), share]);
  missing.push(silentSince.size);
  silentSince.clear();
  runs.push(run);
  print(`run ${count} of ${RUNS}: ${run.nudged.length} nudged, p99 ${Math.round(quantile(run.nudged, 0.99))} ms`);
}
stopping.abort();
await Promise.allSettled(background);
await test.stop();

const figures = ([0.5, 0.99] as const).map((q) => ({
  name: `crossing to nudge: p${100 * q}`,
  unit: 'ms',
  runs: runs.map(({ nudged }) => quantile(nudged, q)),
  reference: { name: 'crossing to decision', runs: runs.map(({ found }) => quantile(found, q)) },
}));
const shares = [...cpu].map(([name, each]) => ({ name, unit: '% of a core', runs: each }));
const afterTick = ([0.5, 0.99] as const).map((q) => ({
  name: `tick to nudge: p${100 * q}`,
  unit: 'ms',
  runs: runs.map((one) => quantile(one.afterTick, q)),
}));
report('nudge', [
  ...figures,
  ...afterTick,
  { name: 'silent and not nudged', unit: 'agents', runs: missing },
  ...shares,
]);
