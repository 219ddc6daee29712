import { type PayloadOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { describe, expect, test } from 'vitest';
import { brief, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { agentHealth } from './health.ts';
import type { Observation } from './observe.ts';

type Exited = PayloadOf<typeof Topic.agentObservation, 'AGENT_EXITED'>;

const vigil = agentHealth(presetsWith('vigil'));
const saved = (checkpoint_id: string, ms: number) => ({
  checkpoint: {
    ...{ checkpoint_id, parent_id: null, uri: `file:///${checkpoint_id}.json`, sha256: null, created_at: T0 + ms },
    ...{ completed_work: [], remaining_work: [], valid: null, invalid_reason: null },
  },
});
const reported = (checkpointId: string, ms: number): Exited['checkpoint'] => ({
  ...{ checkpointId, parentId: null, uri: `file:///${checkpointId}.json`, sha256: null, valid: true },
  ...{ invalidReason: null, createdAt: T0 + ms, completedWork: ['one'], remainingWork: ['two'] },
});
const exited = (checkpoint: Exited['checkpoint'], reason: Exited['reason'] = 'explicit'): Observation => {
  const end = { agentId: 'a1', instanceId: 'a1.i1', taskId: 'T-1', reason, at: T0 + 3000, orderId: null, checkpoint };
  return { ...example(Topic.agentObservation, 'AGENT_EXITED', end), key: 'a1' };
};
/** An agent that has reported the checkpoint `first`. `behindMs`: how far its host's clock is behind the broker's. */
const saving = (behindMs = 0) => {
  const agent = given(vigil, T0 + behindMs);
  agent.receive(heartbeat(0, { sequence: 1 }), T0 + behindMs);
  agent.receive(heartbeat(1000, { sequence: 2, ...saved('first', 500) }), T0 + 1000 + behindMs);
  return agent;
};
const endOf = (emitted: ReturnType<ReturnType<typeof saving>['receive']>) => {
  const change = emitted.find(({ type }) => type === 'HEALTH_STATE_CHANGED');
  return change?.payload as PayloadOf<typeof Topic.agentHealth, 'HEALTH_STATE_CHANGED'> | undefined;
};

describe('the end of an agent names the checkpoint that a replacement continues from', () => {
  test('the last one that a heartbeat reported', () => {
    const end = endOf(saving().receive(exited(null), T0 + 3000));
    expect(end).toMatchObject({ to: 'TERMINATED', endCheckpoint: { checkpointId: 'first' } });
  });

  test('the one of the report of its end, which no heartbeat brought, without its lists of work', () => {
    const end = endOf(saving().receive(exited(reported('last', 2500)), T0 + 3000));
    expect(end?.endCheckpoint).toEqual({
      ...reported('last', 2500),
      completedWork: [],
      remainingWork: [],
    });
  });

  test('with its time on the clock of the broker, and never after the end', () => {
    const late = saving(60_000).receive(exited(reported('last', 2500)), T0 + 63_000);
    expect(endOf(late)?.endCheckpoint?.createdAt).toBe(T0 + 62_500);
    const future = saving().receive(exited(reported('last', 9000)), T0 + 3000);
    expect(endOf(future)?.endCheckpoint?.createdAt).toBe(T0 + 3000);
  });

  test('none where it has written none, and none with a state that is not its end', () => {
    const agent = given(vigil, T0);
    agent.receive(heartbeat(0), T0);
    expect(endOf(agent.receive(exited(null), T0 + 3000))?.endCheckpoint).toBe(null);
    const alive = saving();
    alive.passTo(T0 + 3_600_000);
    const states = alive.all().filter(({ type }) => type === 'HEALTH_STATE_CHANGED');
    const ofState = (to: string) => ({ payload: { to, endCheckpoint: null } });
    expect(states).toMatchObject([ofState('DEGRADED'), ofState('STUCK')]);
  });

  test('and the finding about a crash names it too', () => {
    const emitted = saving().receive(exited(reported('last', 2500), 'crashed'), T0 + 3000);
    expect(brief(emitted).join()).toContain('WARRANT_FILED');
    const warrant = emitted.find(({ type }) => type === 'WARRANT_FILED');
    expect(warrant?.payload).toMatchObject({ checkpoint: { checkpointId: 'last' } });
  });
});
