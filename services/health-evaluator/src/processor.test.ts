import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';
import { publications } from './published.ts';

const policies = inForceOf(loadPolicies(undefined, { fallback: 'demo', requestable: 'any' }));

test('everything in force is named in the marker, and published by its hash', () => {
  const published = [...publications(policies.set).values()].map(({ name, hash }) => ({ name, hash }));
  expect(published.map(({ name }) => name)).toEqual(expect.arrayContaining(['demo', 'vigil', 'assign.yaml']));
  expect(JSON.parse(evaluator(() => policies, 100).marker?.rules().value ?? '')).toEqual(published);
});

test('judgement reads one topic, and that topic carries its time', () => {
  const { reads, time } = evaluator(() => policies, 100);
  expect(reads).toEqual([Topic.agentObservation]);
  expect(time?.topic).toBe(Topic.agentObservation);
});

test('a partition takes as many agents as its configuration permits; the remedy names the variable', () => {
  const { keyLimit } = evaluator(() => policies, 7);
  expect(keyLimit).toMatchObject({ most: 7, remedy: expect.stringContaining('VIGIL_AGENTS_PER_PARTITION') });
});

test('a default that is not loaded is refused', () => {
  expect(() => loadPolicies(undefined, { fallback: 'missing', requestable: 'any' })).toThrow(
    'the default policy missing is not loaded',
  );
});

test('a policy that is listed as requestable and is not loaded is refused with the loaded ones', () => {
  const load = (requestable: readonly string[]) =>
    loadPolicies(undefined, { fallback: 'vigil', requestable: [...requestable] });
  expect(() => load(['missing'])).toThrow('the requestable policy missing is not loaded');
  expect(load(['demo']).assignment.assignment.rules[0]?.may_request).toEqual(['demo']);
  expect(load([]).assignment.assignment.rules[0]?.may_request).toEqual([]);
});
