import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';
import { publications } from './published.ts';

const policies = inForceOf(loadPolicies(undefined, 'demo'));

test('everything in force is named in the marker, and published by its hash', () => {
  const published = [...publications(policies.set).values()].map(({ name, hash }) => ({ name, hash }));
  expect(published.map(({ name }) => name)).toEqual(expect.arrayContaining(['demo', 'vigil', 'assign.yaml']));
  expect(JSON.parse(evaluator(() => policies).marker?.rules().value ?? '')).toEqual(published);
});

test('judgement reads one topic, and that topic carries its time', () => {
  const { reads, time } = evaluator(() => policies);
  expect(reads).toEqual([Topic.agentObservation]);
  expect(time?.topic).toBe(Topic.agentObservation);
});

test('a default that is not loaded is refused', () => {
  expect(() => loadPolicies(undefined, 'missing')).toThrow('the default policy missing is not loaded');
});
