import { type CompiledPolicy, type JudgedState, PRESETS, readPolicies, republished } from '@vigil/policy';
import { expect, test } from 'vitest';
import { policiesOf } from '../judgement/policies.ts';
import { VOCABULARY } from '../vocabulary.ts';

const presets = readPolicies([PRESETS], VOCABULARY);
const byName = (name: string): CompiledPolicy => {
  const found = presets.find((policy) => policy.name === name);
  if (!found) throw new Error(`there is no preset ${name}`);
  return found;
};
const signalsOf = ({ uses }: CompiledPolicy) => uses.map(({ name, signal }) => `${name}: ${signal}`);
const linesOf = ({ states, uses }: CompiledPolicy, state: JudgedState) =>
  states
    .filter((one) => one.state === state)
    .flatMap(({ anyOf }) => anyOf.map((all) => all.map((i) => uses[i]?.name).join(' + ')));
const plansOf = ({ plans }: CompiledPolicy) => plans.map(({ name, steps }) => [name, steps.map(({ step }) => step)]);

test.each(presets)('preset $name has no mistake and nothing to warn of', (policy) => {
  expect(policy.warnings).toEqual([]);
  expect(republished(policy.document, VOCABULARY)).toEqual(policy);
});

/** Their figures depend on the fleet: how many calls a task needs, how often one may be repeated, which errors agents count. */
const OF_A_FLEET: readonly string[] = ['frequent_call', 'reported_errors', 'call_budget'];

test('vigil judges by every signal but those whose figures depend on the fleet', () => {
  const used = new Set<string>(byName('vigil').uses.map(({ signal }) => signal));
  expect(Object.keys(VOCABULARY.signals).filter((name) => !used.has(name))).toEqual(OF_A_FLEET);
});

test('demo has the shape of vigil: its plans and a pause to show, and of its signals those that a demonstration shows, each in its state', () => {
  const [demo, vigil] = [byName('demo'), byName('vigil')];
  expect(signalsOf(vigil)).toEqual(expect.arrayContaining(signalsOf(demo)));
  for (const { state } of demo.states)
    expect(linesOf(vigil, state)).toEqual(expect.arrayContaining(linesOf(demo, state)));
  expect(plansOf(demo)).toEqual(expect.arrayContaining(plansOf(vigil)));
  expect(plansOf(demo)).toHaveLength(plansOf(vigil).length + 1);
});

test('a default that is not loaded is refused, naming those that are', () => {
  expect(() => policiesOf(presets, 'unknown-policy')).toThrow(/name one of .*demo, .*vigil/);
});
