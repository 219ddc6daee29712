import { expect, test } from 'vitest';
import { load } from '../fixture.ts';

type Written = { readonly after?: string; readonly heartbeat?: string; readonly plans?: string };
const warned = ({ after = '14999ms', heartbeat = 'interval: 1s, lost_after: 15s', plans }: Written) =>
  load(`{
    policy: p,
    heartbeat: { ${heartbeat} },
    signals: { no_activity: { after: ${after} }, looping: {} },
    states: { STUCK: [looping, no_activity] },
    plans: [${plans ?? '{ when: STUCK, do: [terminate] }'}]
  }`).warnings;
const steps = (before: string) => `{ when: STUCK, do: [${before}, terminate] }`;

test('there is a warning about a plan that ends a silent agent before it counts as lost, and none from then on', () => {
  expect(warned({})).toEqual([expect.stringMatching(/^plans\[0\]\.do\[0\]\.terminate: comes after 14 s of silence/)]);
  expect(warned({ after: '15s' })).toEqual([]);
});

test('an agent with a long heartbeat interval counts as lost after three intervals', () => {
  const heartbeat = 'interval: 20s, lost_after: 15s';
  expect(warned({ heartbeat, after: '59999ms' })).toEqual([expect.stringMatching(/counts as lost after 1 min /)]);
  expect(warned({ heartbeat, after: '60s' })).toEqual([]);
});

test.each([
  ['nudges', 'nudge: { attempts: 2, interval: 2500ms }'],
  ['probes', 'interrogate: { waits: [2s, 3s] }'],
  ['the wait for people', 'escalate: { timeout: 5s }'],
  ['a handoff', 'handoff: { deadline: 5s }'],
  ['a pause', 'pause: { backoff: 5s }'],
])('the time of %s before the end counts', (_, step) => {
  expect(warned({ after: '9999ms', plans: steps(step) })).toEqual([
    expect.stringMatching(/^plans\[0\]\.do\[1\]\.terminate: comes after 14 s/),
  ]);
  expect(warned({ after: '10s', plans: steps(step) })).toEqual([]);
});

test('there is no warning if only people or no plan end an agent', () => {
  expect(warned({ plans: steps('escalate: { timeout: never }') })).toEqual([]);
  expect(warned({ plans: steps('escalate: { timeout: 1s, on_timeout: hold }') })).toEqual([]);
  expect(warned({ plans: '{ when: STUCK, do: [alert: ops, recover] }' })).toEqual([]);
});

test('there is no warning about a plan that silence alone cannot match', () => {
  const quiet = '{ when: no_activity, do: [alert: ops] }';
  expect(warned({ plans: `${quiet}, { when: looping, do: [terminate] }` })).toEqual([]);
  expect(warned({ plans: '{ when: no_activity + looping, do: [terminate] }' })).toEqual([]);
  expect(warned({ plans: `${quiet}, { when: STUCK, do: [terminate] }` })).toEqual([]);
  expect(warned({ plans: `{ when: looping, do: [alert: ops] }, { when: STUCK, do: [terminate] }` })).toHaveLength(1);
});
