import { Topic } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import { expect, test } from 'vitest';
import {
  FOLLOWED,
  findingsOf,
  noTicks,
  STILL_MS,
  type Ticks,
  ticked,
  timeFlows,
  timeFlowsThroughAll,
} from './upstreams.ts';

const T = 1_795_305_600_000;
const PARTITIONS = 2;

const tick = (topic: string, partition: number, timestamp: number, key = '@tick/0') => ({
  ...{ topic, partition, timestamp, key, offset: 0, value: null, headers: {} },
});
const none = noTicks(new Map(FOLLOWED.map((topic) => [topic, PARTITIONS])));
const all = (at: number, before: Ticks = none): Ticks =>
  FOLLOWED.flatMap((topic) => Array.from({ length: PARTITIONS }, (_, p) => tick(topic, p, at))).reduce(ticked, before);

test('time flows where the slowest partition of each service is younger than the limit, and not a moment longer', () => {
  const ticks = all(T);
  expect(timeFlows(ticks, T + STILL_MS)).toBe(true);
  expect(timeFlows(ticks, T + STILL_MS + 1)).toBe(false);
});

test('before the first tick of every partition time does not flow', () => {
  expect(timeFlows(none, T)).toBe(false);
  expect(timeFlows(ticked(none, tick(Topic.agentHealth, 0, T)), T)).toBe(false);
});

test.each([
  [Topic.agentHealth, 'health-evaluator'],
  [Topic.agentIntervention, 'intervention'],
  [Topic.fleetGovernance, 'intervention'],
  [Topic.notify, 'alerting'],
] as const)('one partition of %s that stands stops the flow, and names %s', (topic, service) => {
  const later = T + 60_000;
  const ticks = FOLLOWED.flatMap((each) =>
    Array.from({ length: PARTITIONS }, (_, p) => (each === topic && p === 1 ? [] : [tick(each, p, later)])).flat(),
  ).reduce(ticked, all(T));
  expect(timeFlows(ticks, later)).toBe(false);
  expect(timeFlowsThroughAll(ticks, later)).toBe(false);
  const standing = Object.entries(findingsOf(ticks, later)).filter(([, why]) => why !== null);
  expect(standing).toEqual([[service, `its time stands at ${utcTime(T)}`]]);
});

test('recovery that stands is found: alerts are still current, and time does not flow through all services', () => {
  const later = T + 60_000;
  const ticks = FOLLOWED.filter((topic) => topic !== Topic.taskRecovery)
    .flatMap((topic) => Array.from({ length: PARTITIONS }, (_, p) => tick(topic, p, later)))
    .reduce(ticked, all(T));
  expect(timeFlows(ticks, later)).toBe(true);
  expect(timeFlowsThroughAll(ticks, later)).toBe(false);
  expect(timeFlowsThroughAll(all(later), later)).toBe(true);
  expect(findingsOf(ticks, later).recovery).toContain('its time stands');
});

test('events are no ticks, and a tick that is read late does not set time back', () => {
  const later = T + 60_000;
  const ticks = [tick(Topic.notify, 0, later, 'stuck_agent:T-1'), tick(Topic.notify, 0, T - 1000)].reduce(
    ticked,
    all(T),
  );
  expect(findingsOf(ticks, later).alerting).toContain(utcTime(T));
});
