import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Assignment, loadPolicy, readAssignment } from '@vigil/policy';
import { expect, test } from 'vitest';
import { agentHealth } from '../evaluator/health.ts';
import { type AgentState, UNSEEN } from '../evaluator/state.ts';
import { at, brief, heartbeat, policyOf, T0 } from '../fixture.ts';
import { VOCABULARY } from '../vocabulary.ts';
import { type Policies, policiesOf } from './policies.ts';

const policy = (name: string, after: string, more = '') =>
  loadPolicy(
    `{ policy: ${name}, signals: { no_heartbeat: { after: ${after} } }, states: { STUCK: [no_heartbeat] }, exemptions: { starting: false, idle: false } ${more} }`,
    name,
    VOCABULARY,
  );
const quick = policy('quick', '1m');
const slow = policy('slow', '10m');
const rule = (more: object): Assignment => readAssignment({ rules: [more], default: 'slow' }, 'assign.yaml');
const policies = (assignment: Assignment | string): Policies => policiesOf([quick, slow], assignment);

const receive = (under: Policies, state: AgentState, ms: number, more = {}) => {
  const { observe, decide, evolve } = agentHealth(under);
  const observed = observe(state, heartbeat(ms, more), at(ms));
  return decide(observed, at(ms)).reduce(evolve, observed);
};
const nameIn = (state: AgentState) => state.kind === 'known' && state.policy.name;

test('an agent gets the policy of the first matching rule, and another when its labels change', () => {
  const assigned = policies(rule({ labels: { team: 'core' }, policy: 'quick' }));
  const first = receive(assigned, UNSEEN, 0);
  expect(nameIn(first)).toBe('slow');
  const core = receive(assigned, first, 1000, { labels: { team: 'core' } });
  expect(nameIn(core)).toBe('quick');
  expect(nameIn(receive(assigned, core, 2000, { labels: { team: 'web' } }))).toBe('slow');
});

test('an agent gets the policy that it requests if its rule lists that policy; without a request it gets the rule’s policy', () => {
  const listed = policies(rule({ id: '^a1$', policy: 'slow', may_request: ['quick'] }));
  const requesting = receive(listed, UNSEEN, 0, { policy: 'quick' });
  expect(nameIn(requesting)).toBe('quick');
  expect(nameIn(receive(listed, requesting, 1000))).toBe('slow');
  const unlisted = policies(rule({ id: '^b', policy: 'slow', may_request: ['quick'] }));
  expect(nameIn(receive(unlisted, UNSEEN, 0, { policy: 'quick' }))).toBe('slow');
});

test('the end of an agent without a heartbeat names the policy for it; no end changes the policy of another instance', () => {
  const asked = policies('slow');
  const { observe } = agentHealth(asked);
  const exit = (agentId: string, more = {}) => {
    const exited = example(Topic.agentObservation, 'AGENT_EXITED', { agentId, instanceId: `${agentId}.i1`, ...more });
    return { ...exited, key: agentId };
  };
  expect(nameIn(observe(UNSEEN, exit('a1', { policy: 'quick' }), at(0)))).toBe('quick');
  expect(nameIn(observe(UNSEEN, exit('a1', { policy: null }), at(0)))).toBe('slow');
  const core = policies(rule({ labels: { team: 'core' }, policy: 'quick' }));
  const labelled = agentHealth(core).observe(UNSEEN, exit('a1', { labels: { team: 'core' } }), at(0));
  expect(nameIn(labelled)).toBe('quick');
  const alive = receive(asked, UNSEEN, 0, { policy: 'quick', instance_id: 'a1.i0' });
  const ended = observe(alive, exit('a1', { instanceId: 'a1.i0' }), at(100));
  expect(nameIn(observe(ended, exit('a1', { policy: 'slow', at: T0 + 500 }), at(1000)))).toBe('slow');
  expect(nameIn(observe(ended, exit('a1', { policy: null, at: T0 + 500 }), at(1000)))).toBe('quick');
  const itself = receive(asked, UNSEEN, 0, { policy: 'quick', instance_id: 'a1.i1' });
  expect(nameIn(observe(itself, exit('a1', { policy: 'slow' }), at(1000)))).toBe('quick');
});

test('a silent agent is judged by new rules as soon as they are in force, without a heartbeat', () => {
  const known = receive(policies('slow'), UNSEEN, 0);
  const after = agentHealth(policies('slow'));
  expect(after.decide(known, at(120_000))).toEqual([]);
  const { decide, dueAt, evolve } = agentHealth(policies('quick'));
  expect(dueAt(known, at(30_000))).toBeLessThanOrEqual(at(60_001).now);
  const emitted = decide(known, at(120_000));
  expect(brief(emitted)).toContain('HEALTHY → STUCK');
  expect(emitted.find(({ type }) => type === 'HEALTH_STATE_CHANGED')?.policy).toEqual({
    name: 'quick',
    hash: quick.hash,
  });
  expect(decide(emitted.reduce(evolve, known), at(120_000))).toEqual([]);
});

test('agents of a policy whose document was replaced are judged by the new document', () => {
  const known = receive(policies('slow'), UNSEEN, 0);
  const { decide } = agentHealth(policiesOf([policy('slow', '1m')], 'slow'));
  expect(brief(decide(known, at(120_000)))).toContain('HEALTHY → STUCK');
});

test("Vigil's own processes are shown and never judged", () => {
  const own = receive(policyOf('{ policy: p, signals: {}, states: {} }'), UNSEEN, 0, { agent_id: 'vigil:alerting' });
  expect(own).toMatchObject({ excluded: true });
});
