import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { loadPolicies } from './policies.ts';
import { evaluator, published } from './processor.ts';

const policies = loadPolicies(undefined, 'demo');

test('every loaded policy is published by its hash, and named in the marker', () => {
  const drafts = published(policies);
  expect(drafts.map(({ key, payload }) => [payload.name, key])).toEqual(
    policies.all.map(({ name, hash }) => [name, hash]),
  );
  expect(JSON.parse(evaluator(policies).marker?.value ?? '')).toEqual(drafts.map(({ policy }) => policy));
});

test('judgement reads one topic, and that topic carries its time', () => {
  const { reads, time } = evaluator(policies);
  expect(reads).toEqual([Topic.agentObservation]);
  expect(time?.topic).toBe(Topic.agentObservation);
});

test('a default that is not loaded is refused', () => {
  expect(() => loadPolicies(undefined, 'nobody')).toThrow('the default policy nobody is not loaded');
});
