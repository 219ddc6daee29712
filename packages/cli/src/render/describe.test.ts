import { catalogue, type HealthEvent, Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { describeEvent, subject } from './describe.ts';

const topics = topicNames.filter((topic) => catalogue[topic].kind === 'evt' || topic === Topic.agentOrder);
const all = topics.flatMap((topic) => catalogue[topic].events.map(({ type }) => ({ topic, type })));

test.each(all)('$type is described in a sentence without undefined values', ({ topic, type }) => {
  const { payload } = example(topic, type as never) as HealthEvent;
  const text = describeEvent(type, payload);
  expect(text.length).toBeGreaterThan(5);
  expect(text).not.toMatch(/undefined|null|\[object/);
});

test('a silence is described with its end, and one that a person ends as ended', () => {
  const { payload } = example(Topic.alert, 'SILENCE_CHANGED');
  const silence = { ...payload, matchers: [{ field: 'agentId', value: 'a' }], until: Date.parse('2026-11-28T16:00Z') };
  expect(describeEvent('SILENCE_CHANGED', { ...silence, silenceEnds: false })).toBe(
    'alerts with agent=a are silent until 2026-11-28 16:00:00 UTC',
  );
  expect(describeEvent('SILENCE_CHANGED', { ...silence, silenceEnds: true })).toBe(
    'the silence of alerts with agent=a has ended',
  );
});

test('the description of an end names who requested it', () => {
  const end = { ...example(Topic.agentObservation, 'AGENT_EXITED').payload, reason: 'explicit', code: 3, signal: null };
  const details = 'exited with code 3; stopped by ada with vigil stop';
  expect(describeEvent('AGENT_EXITED', { ...end, details })).toBe(`ended (explicit): ${details}`);
  expect(describeEvent('AGENT_EXITED', { ...end, details: null })).toBe('ended (explicit), code 3');
});

test('the use of a terminal names who, and the length of what was typed, for lines only', () => {
  const used = { ...example(Topic.agentObservation, 'TERMINAL_USED').payload, by: 'ada', bytes: 0 };
  expect(describeEvent('TERMINAL_USED', { ...used, use: 'opened' })).toBe('ada opened its terminal');
  expect(describeEvent('TERMINAL_USED', { ...used, use: 'typed', bytes: 7 })).toBe('ada typed 7 bytes at its terminal');
  expect(describeEvent('TERMINAL_USED', { ...used, use: 'left' })).toBe('ada left its terminal');
});

test('a warrant that lapses while its agent lives names the end of its finding, which need not be progress', () => {
  const { payload } = example(Topic.agentHealth, 'WARRANT_LAPSED');
  expect(describeEvent('WARRANT_LAPSED', { ...payload, why: 'progress' })).toBe(
    'warrant lapsed: the finding has ended',
  );
  expect(describeEvent('WARRANT_LAPSED', { ...payload, why: 'held' })).toBe('warrant lapsed: a person holds the agent');
});

test('an order to an agent without a runtime goes to the agent itself', () => {
  const { payload } = example(Topic.agentOrder, 'NUDGE_AGENT');
  expect(describeEvent('NUDGE_AGENT', { ...payload, number: 1, runtimeId: '' })).toBe(
    'order 1: nudge, to the agent itself',
  );
  expect(describeEvent('NUDGE_AGENT', { ...payload, number: 1, runtimeId: 'host-1' })).toBe(
    'order 1: nudge, to host-1',
  );
});

test('the receipt of an end names how the processes were found, and no other receipt does', () => {
  const { payload } = example(Topic.orderReceipt, 'ORDER_RECEIPT');
  const end = { ...payload, runtimeId: 'host-1', outcome: 'done', why: null };
  expect(describeEvent('ORDER_RECEIPT', { ...end, by: 'cgroup' })).toBe(
    'host-1 reports done; its processes were found by cgroup',
  );
  expect(describeEvent('ORDER_RECEIPT', { ...end, by: null })).toBe('host-1 reports done');
});

test('an answer to a request names who gave it, and a refused one why', () => {
  const answer = { option: 'allow', by: 'ada', why: 'my branch' };
  expect(describeEvent('REQUEST_ANSWERED', answer)).toBe('ada answered allow: my branch');
  const refused = { option: 'deny', by: 'eve', reason: 'answered', detail: 'ada has answered allow' };
  expect(describeEvent('ANSWER_REFUSED', refused)).toBe('the answer deny of eve is refused: ada has answered allow');
});

test('the subject is the agent, else the task, else the fleet', () => {
  expect(subject({ agentId: 'a', taskId: 't' })).toBe('a');
  expect(subject({ agentId: null, taskId: 't' })).toBe('t');
  expect(subject({ agent_id: 'a' })).toBe('a');
  expect(subject({ by: 'ada' })).toBe('fleet');
});
