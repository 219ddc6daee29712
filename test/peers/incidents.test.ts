import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type AgentState, type Announcement, Folding } from '@vigil/health';
import { at, call, heartbeat, presetsWith, T0 } from '@vigil/health/fixture';
import { PRESETS } from '@vigil/policy';
import { expect, test } from 'vitest';
import { answersOf } from './answer.ts';
import { incidents } from './incidents.ts';
import { MIN } from './peer.ts';

const policy = readFileSync(path.join(PRESETS, 'vigil.yaml'), 'utf8');

test.each(answersOf({ name: 'incidents', source: '', policy, read: [], cases: incidents }))(
  '$name',
  ({ agrees, theirs, ours }) => expect(ours, `asked is ${theirs}`).toSatisfy(() => agrees),
);

const vigil = presetsWith('vigil');
const HEARTBEAT = heartbeat(0, { tool_calls: [call('c1')] });
const begun = (states = new Map<string, AgentState>()) => {
  const folding = new Folding(vigil, states);
  folding.fold({ clock: at(0), input: HEARTBEAT });
  return { folding, states };
};
/** The output of ticks until `ms` after T0, with all time watched. */
const ticked = (folding: Folding, ms: number): readonly Announcement[] => {
  const emitted: Announcement[] = [];
  while (folding.dueAt <= T0 + ms)
    emitted.push(...folding.fold({ clock: at(folding.dueAt - T0), input: null }).emitted);
  return emitted;
};
const of = (type: Announcement['type'], emitted: readonly Announcement[]) => emitted.filter((one) => one.type === type);

test('red-skills #3578: a monitor that was away for an hour reported deaths when it came back', () => {
  const { states } = begun();
  const again = new Folding(vigil, states);
  expect(again.fold({ clock: { now: T0 + 60 * MIN, watched: T0, ingresses: {} }, input: null }).emitted).toEqual([]);
});

test('mars #470: workers were dead to a scheduler that was too busy to receive their reports', () => {
  const folding = new Folding(vigil, new Map());
  const busy = (ms: number) => ({ ...at(ms), ingresses: { gateway: T0 } });
  folding.fold({ clock: busy(0), input: heartbeat(0, { ingress: 'gateway', tool_calls: [call('c1')] }) });
  expect(folding.fold({ clock: busy(10 * MIN), input: null }).emitted).toEqual([]);
});

test('gt #589: a heartbeat from before the restart counted for the restarted agent', () => {
  const { folding } = begun();
  folding.fold({ clock: at(1000), input: heartbeat(1000, { instance_id: 'a1.i2' }) });
  const { refused, emitted } = folding.fold({ clock: at(2000), input: heartbeat(2000, { activity: 'stuck' }) });
  expect({ refused, emitted }).toMatchObject({ refused: expect.stringContaining('older_instance'), emitted: [] });
});

test('cqlite #3284: it was seen, and nothing came of it: a warrant stays and is renewed until something does', () => {
  const emitted = ticked(begun().folding, 90 * MIN);
  expect(of('WARRANT_FILED', emitted)).toHaveLength(1);
  // Every minute in the first hour of silence, then less and less often.
  expect(of('WARRANT_RENEWED', emitted).length).toBeGreaterThan(50);
  expect(of('WARRANT_LAPSED', emitted)).toEqual([]);
});

test('gc #6306: people were notified at each interval, not once for each condition', () => {
  const changes = of('HEALTH_STATE_CHANGED', ticked(begun().folding, 90 * MIN));
  const states = changes.map(({ payload }) => ('to' in payload ? payload.to : null));
  expect(states).toEqual([...new Set(states)]);
});
