import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { type Observation, type Policies, policiesOf, VOCABULARY } from '@vigil/health';
import { loadPolicy, PRESETS, readPolicies } from '@vigil/policy';
import type { Clock } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCluster, ownServers, soak } from '../support/system.ts';
import { type Agent, INTERVAL_MS } from './agents.ts';
import { REGULAR, SOAK } from './faults.ts';
import { deserved, type Finding, findingsIn, lastSigns } from './findings.ts';
import { type Decision, decisions, differences, type Otherwise, refold } from './refold.ts';
import { COUNTING, fleetFor, live, type Story, type Suffered } from './story.ts';
import { counted } from './supervised.ts';

const faults = soak(REGULAR, SOAK);
const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), 'demo');
/** of the policy `demo` */
const LIMITS: Readonly<Record<string, number>> = { STUCK: 8000, WARRANT_FILED: 8000, AGENT_LOST: 15_000 };

describe.skipIf(!ownServers)('time', () => {
  let story: Story;
  let output: readonly Decision[];
  const counts = new Map<string, number>();
  beforeAll(
    async () => {
      story = await live('time', fleetFor(faults), faults);
      for (const topic of [Topic.agentHealth, Topic.fleetPresence, Topic.taskHealth])
        counts.set(topic, await story.t.log.partitionCount(topic));
      output = await decisions(story.t);
      process.stderr.write(`${figures(story)}\n`);
    },
    faults.reduce((sum, { seconds }) => sum + seconds * 1000 + 15_000, 400_000),
  );
  afterAll(() => story?.t.stop());

  const of = ({ id }: Agent): Finding[] => story.findings.filter(({ agentId }) => agentId === id);
  const hung = (): Agent[] => story.agents.filter(({ hungIn }) => hungIn !== null);
  const again = (otherwise: Otherwise = {}, under = policies) =>
    refold(story.t, under, story.records, counts, otherwise);
  /** Agents that have a finding but never hung. */
  const innocent = (recorded: readonly Decision[]): Set<string> => {
    const guilty = new Set(hung().map(({ id }) => id));
    const against = findingsIn(recorded.map(({ output, at }) => ({ ...output, occurredAt: at })) as never);
    return new Set(against.flatMap(({ agentId }) => (guilty.has(agentId) ? [] : [agentId])));
  };

  test('no agent that keeps sending heartbeats gets a finding, during a fault of any part and length', () => {
    expect(story.suffered).toHaveLength(faults.length);
    expect([...innocent(output)]).toEqual([]);
  });

  test('a hang is found once, even if it began during a fault of any part', () => {
    expect(hung()).toHaveLength(3 * faults.length);
    for (const agent of hung())
      expect(
        of(agent).map(({ what }) => what),
        agent.id,
      ).toEqual(deserved(agent));
  });

  test('nothing is decided before the limit has passed since the last sign', () => {
    const signs = lastSigns(story.observations);
    for (const { agentId, what, at } of story.findings)
      expect(at - (signs.get(agentId) ?? at), `${agentId} ${what}`).toBeGreaterThan(LIMITS[what] ?? 0);
  });

  test('while the gateway is down, hangs of other agents are found; hangs of its agents are found when it is back', () => {
    const outages = story.suffered.map((fault, i) => ({ ...fault, i })).filter(isLongDown);
    expect(outages.length).toBeGreaterThan(0);
    for (const { i, to } of outages)
      for (const agent of hung().filter(({ hungIn }) => hungIn === i)) {
        const found = of(agent).find(({ what }) => what === 'STUCK')?.at ?? Number.NaN;
        if (agent.ingress === 'kafka') expect(found, agent.id).toBeLessThan(to);
        else expect(found, agent.id).toBeGreaterThan(to);
      }
  });

  test('the stored observations, folded again, give the recorded decisions, event for event', () => {
    expect(output.length).toBeGreaterThan(4 * story.agents.length);
    expect(differences(again(), output)).toEqual([]);
  });

  test("agents' clocks ten minutes off, both ways, are reported and change no other decision", () => {
    const skews = new Map(story.agents.map(({ id, skewMs }) => [id, skewMs]));
    expect([...new Set(skews.values())].sort()).toEqual([-600_000, 0, 600_000]);
    const reported = output.flatMap(({ output }) => (output.type === 'CLOCK_DRIFTED' ? [skews.get(output.key)] : []));
    expect([...new Set(reported)].sort()).toEqual([-600_000, 600_000]);
    const right = (input: Observation): Observation => {
      if (input.type !== 'AGENT_HEARTBEAT') return input;
      const by = skews.get(input.key) ?? 0;
      const { timestamp, agent_heartbeat_at: own } = input.payload;
      const payload = {
        ...input.payload,
        timestamp: timestamp - by,
        agent_heartbeat_at: own === null ? null : own - by,
      };
      return { ...input, payload };
    };
    const others = output.filter(({ output }) => !output.type.startsWith('CLOCK_'));
    expect(differences(again({ input: right }), others)).toEqual([]);
  });

  // One unavailable broker of three silences few agents, so there is little to find.
  test.skipIf(isCluster)('control: the same log judged by wall-clock time gives findings for many that worked', () => {
    const wall = ({ now, ingresses }: Clock): Clock => ({
      now,
      watched: now,
      ingresses: Object.fromEntries(Object.keys(ingresses).map((ingress) => [ingress, now])),
    });
    expect(innocent(again({ clock: wall })).size).toBeGreaterThan((story.agents.length - hung().length) / 2);
  });

  test('control: without a clock for the ingress, its agents get findings', () => {
    const findings = [...innocent(again({ clock: ({ now, watched }) => ({ now, watched, ingresses: {} }) }))];
    expect(findings.filter((id) => id.startsWith('gateway-')).length).toBeGreaterThan(0);
    expect(findings.filter((id) => id.startsWith('kafka-'))).toEqual([]);
  });

  test('a limit just above two heartbeats and the settling time gives no false finding either', () => {
    expect([...innocent(again({}, policyOf(5100)))]).toEqual([]);
  });

  test('a supervised agent keeps its newest state through an outage of the gateway, and every call that it reported', () => {
    const received = counted(story.observations, COUNTING);
    for (const { from, to } of story.suffered.filter(isLongDown)) {
      const [stale, newest] = received.filter(({ receivedAt }) => receivedAt > from + INTERVAL_MS);
      expect(stale?.receivedAt).toBeGreaterThan(to);
      expect(newest?.reportedAt).toBeGreaterThan((from + to) / 2);
    }
    expect(received.map(({ sequence }) => sequence)).toEqual(received.map((_, i) => i + 1));
    const calls = received.flatMap(({ calls }) => calls);
    expect(calls).toEqual(calls.map((_, i) => 5 * (i + 1)));
  });
});

/** `demo`, with another limit of silence. */
const policyOf = (ms: number): Policies => {
  const text = readFileSync(path.join(PRESETS, 'demo.yaml'), 'utf8');
  const changed = text.replace('no_activity: { after: 8s }', `no_activity: { after: ${ms}ms }`);
  return policiesOf([loadPolicy(changed, 'demo.yaml', VOCABULARY)], 'demo');
};

const isLongDown = ({ who, kind, seconds }: Suffered): boolean => who === 'gateway' && kind === 'down' && seconds >= 15;

const figures = ({ agents, suffered, findings, records, longestStallMs }: Story): string => {
  const hung = agents.filter(({ hungIn }) => hungIn !== null);
  const guilty = new Set(hung.map(({ id }) => id));
  const found = new Set(findings.flatMap(({ agentId, what }) => (what === 'STUCK' ? [agentId] : [])));
  const wrong = findings.filter(({ agentId }) => !guilty.has(agentId)).length;
  const missed = hung.filter(({ id }) => !found.has(id)).length;
  return `time: ${suffered.length} faults, ${agents.length} agents, ${records.length} records: ${wrong} false findings, ${hung.length - missed} of ${hung.length} hangs found; the sender stalled for at most ${longestStallMs} ms`;
};
