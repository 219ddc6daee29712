import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { admitSpawn, admitStep, announces, controls, lost, present, withdrawStep } from './fleet.fixture.ts';
import { decider } from './governor.ts';
import { usual } from './settings.ts';
import type { GovernorInput } from './state.ts';

const agents = fc.integer({ min: 0, max: 7 }).map((n) => `a${n}`);

const inputs: fc.Arbitrary<GovernorInput> = fc.oneof(
  agents.map((id) => present(id)),
  agents.map((id) => lost(id)),
  agents.map((id) => lost(id, { expected: true })),
  agents.map((id) => lost(id, { exemption: 'idle' })),
  agents.map((id) => admitStep(id)),
  agents.map((id) => admitStep(id, 'soft')),
  agents.map((id) => withdrawStep(id)),
  agents.map((id) => admitSpawn(id)),
  fc
    .integer({ min: 0, max: 3 })
    .map((capacity) => announces('r1', { capacity, templates: capacity === 1 ? [] : [{ task: 'a*', labels: {} }] })),
  fc
    .constantFrom('HALT_FLEET' as const, 'RESUME_FLEET' as const, 'DRY_RUN_ON' as const, 'LIFT_BRAKE' as const)
    .map((type) => controls(type)),
);

test('the governor keeps the laws of deciders', () =>
  laws(decider({ ...usual, stepsPerMinute: 2, spawnsPerHour: 2 }), inputs, { runs: 1000 }));
