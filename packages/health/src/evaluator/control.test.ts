import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { Unwelcome } from '@vigil/stream';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { brief, call, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth, type Observation } from './health.ts';
import { UNSEEN } from './state.ts';

const decider = agentHealth(presetsWith('demo'));
const asked = { agentId: 'a1', by: 'ada', why: 'the rack is off' };
const command = { key: 'a1', correlationId: 'command-1' };

const confirm = (fields: object = {}): Observation => ({
  ...example(Topic.agentObservation, 'CONFIRM_DEATH', {
    ...{ ...asked, instanceId: 'a1.i1', source: 'person', groupId: null, of: 1, ...fields },
  }),
  ...command,
});
const reset = (name = 'tool_execution'): Observation => ({
  ...example(Topic.agentObservation, 'RESET_BREAKER', { ...asked, name }),
  ...command,
});
const ticket = (): Observation => {
  const event = example(Topic.agentObservation, 'FILE_TICKET', { agentId: 'a1', by: 'ada' });
  const filed = {
    ...event.payload.ticket,
    worker_agent_id: 'a1',
    severity: 'high',
    created_at: '2026-11-23T12:00:00Z',
  };
  return { ...event, ...command, payload: { ...event.payload, ticket: filed } } as Observation;
};
const running = (fields: object = {}) => {
  const agent = given(decider, T0);
  agent.receive(heartbeat(0, { instance_id: 'a1.i1', activity: 'working', ...fields }), T0);
  return agent;
};
const answers = (emitted: readonly { type: string }[]) => emitted.filter(({ type }) => type.startsWith('CONTROL_'));
const failed = (id: string) => call(id, { outcome: 'error', error_class: 'E' });

test('the evaluator answers a confirmed death with the command as the correlation id, and the group that it belongs to', () => {
  const emitted = running().receive(confirm({ groupId: 'first', of: 3 }), T0 + 1000);
  expect(brief(emitted)).toContain('HEALTHY → TERMINATED');
  expect(answers(emitted)).toMatchObject([
    {
      type: 'CONTROL_APPLIED',
      correlationId: 'command-1',
      payload: { agentId: 'a1', control: 'confirm_death', by: 'ada', why: 'the rack is off', groupId: 'first', of: 3 },
    },
  ]);
});

test('the death of an instance that has ended is confirmed again, and that of a replaced instance is refused', () => {
  const agent = running();
  agent.receive(confirm(), T0 + 1000);
  expect(answers(agent.receive(confirm(), T0 + 2000))).toMatchObject([{ type: 'CONTROL_APPLIED' }]);
  const replaced = running({ instance_id: 'a1.i2' });
  const refused = replaced.receive(confirm(), T0 + 1000);
  expect(brief(refused)).not.toContain('HEALTHY → TERMINATED');
  expect(answers(refused)).toMatchObject([
    {
      type: 'CONTROL_REFUSED',
      correlationId: 'command-1',
      payload: {
        control: 'confirm_death',
        reason: 'a1 is instance a1.i2 now, and not a1.i1: confirm the death of that one.',
      },
    },
  ]);
});

test('the reset of a breaker that Vigil counts is answered, and that of a closed one is refused', () => {
  const agent = running({ tool_calls: Array.from({ length: 6 }, (_, n) => failed(`c${n}`)) });
  expect(answers(agent.receive(reset(), T0 + 1000))).toMatchObject([
    { type: 'CONTROL_APPLIED', correlationId: 'command-1', payload: { control: 'reset_breaker' } },
  ]);
  expect(answers(agent.receive(reset(), T0 + 2000))).toMatchObject([
    {
      type: 'CONTROL_REFUSED',
      payload: { control: 'reset_breaker', reason: 'breaker tool_execution of a1 is closed: nothing is reset.' },
    },
  ]);
});

test('the reset of a breaker that the agent holds is answered by its request, and refused when the agent has ended', () => {
  const breakers = [{ name: 'tool_execution', state: 'OPEN', failures: 5, next_attempt_at: null }];
  const agent = running({ breakers });
  const emitted = agent.receive(reset(), T0 + 1000);
  expect(answers(emitted)).toEqual([]);
  expect(emitted).toMatchObject([{ type: 'BREAKER_RESET_ASKED', correlationId: 'command-1' }]);
  agent.receive(confirm(), T0 + 2000);
  expect(answers(agent.receive(reset(), T0 + 3000))).toMatchObject([
    { type: 'CONTROL_REFUSED', payload: { reason: expect.stringMatching(/^a1 has ended: lost: only it /) } },
  ]);
});

test('a filed ticket is answered once', () => {
  const agent = running();
  const emitted = agent.receive(ticket(), T0 + 1000);
  expect(emitted.map(({ type }) => type)).toContain('WORKER_ESCALATION_TICKET');
  expect(answers(emitted)).toMatchObject([
    { type: 'CONTROL_APPLIED', correlationId: 'command-1', payload: { control: 'file_ticket', by: 'ada' } },
  ]);
  expect(answers(agent.passTo(T0 + 60_000))).toEqual([]);
});

test.each([confirm(), reset(), ticket()])('$type of an unknown agent is a dead letter', (input) => {
  const clock = { now: T0, watched: T0 } as Parameters<typeof decider.observe>[2];
  expect(() => decider.observe(UNSEEN, input, clock)).toThrow(Unwelcome);
});
