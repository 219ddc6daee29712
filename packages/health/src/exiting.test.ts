import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { type Beat, beat, brief, call, presetsWith, T0 } from './fixture.ts';
import { agentHealth, type Observation } from './health.ts';

const decider = agentHealth(presetsWith('demo'));
const turn = (open: boolean, event: number): Partial<Beat> => ({
  reporter: 'runtime',
  activity: open ? 'working' : 'exiting',
  agent_beat_at: T0 + event,
  turn: { open, started_at: T0, last_event_at: T0 + event },
});
const exited: Observation = {
  ...example(Topic.agentObservation, 'AGENT_EXITED', { agentId: 'a1', instanceId: 'a1.i1', reason: 'crashed' }),
  key: 'a1',
};

const stuck = () => {
  const agent = given(decider, T0);
  agent.tell(beat(0, { ...turn(true, 0), tool_calls: [call('c0')] }), T0);
  agent.passTo(T0 + 9000);
  expect(brief(agent.all())).toContain('HEALTHY → STUCK');
  return agent;
};

test('an agent that is ended while it is STUCK is not reported HEALTHY on the way, and its warrant does not lapse as progress', () => {
  const agent = stuck();
  const found = agent.all().length;
  agent.tell(beat(9500, turn(false, 9500)), T0 + 9500);
  agent.passTo(T0 + 60_000);
  agent.tell(exited, T0 + 60_000);
  const said = brief(agent.all().slice(found));
  expect(said).toContain('STUCK → TERMINATED');
  expect(said).not.toContain('STUCK → HEALTHY');
  expect(said).not.toContain('WARRANT_LAPSED progress');
});

test('one that goes on after all is HEALTHY', () => {
  const agent = stuck();
  agent.tell(beat(9500, turn(false, 9500)), T0 + 9500);
  const said = agent.tell(beat(10_000, { ...turn(true, 10_000), tool_calls: [call('c1')] }), T0 + 10_000);
  expect(brief(said)).toContain('STUCK → HEALTHY');
});

test('one that was well before it exits stays HEALTHY until its end', () => {
  const agent = given(decider, T0);
  agent.tell(beat(0, { ...turn(true, 0), tool_calls: [call('c0')] }), T0);
  agent.tell(beat(1000, turn(false, 1000)), T0 + 1000);
  agent.passTo(T0 + 60_000);
  expect(brief(agent.all()).filter((said) => said.startsWith('HEALTHY →'))).toEqual([]);
});

test('one that exits is shown as exiting, whether it worked or rested before', () => {
  for (const before of ['working', 'idle'] as const) {
    const agent = given(decider, T0);
    agent.tell(beat(0, { ...turn(true, 0), activity: before, tool_calls: [call('c0')] }), T0);
    agent.tell(beat(1000, turn(false, 1000)), T0 + 1000);
    const shown = agent.all().flatMap((said) => (said.type === 'EXEMPTION_CHANGED' ? [said.payload.to] : []));
    expect(shown.at(-1)).toBe('exiting');
  }
});
