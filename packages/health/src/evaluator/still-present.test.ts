import { NEVER } from '@vigil/stream';
import { clockAt } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { type HeartbeatPayload, heartbeat, presetsWith, T0 } from '../fixture.ts';
import { type Announcement, agentHealth } from './health.ts';
import { type AgentState, UNSEEN } from './state.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const vigil = agentHealth(presetsWith('vigil'));

/** The presence events of an agent that sends a heartbeat an hour until `aliveUntil`, evaluated at its deadlines as the runner does. */
const presenceOf = (more: Partial<HeartbeatPayload>, aliveUntil: number, until: number) => {
  const emitted: string[] = [];
  let state: AgentState = UNSEEN;
  const decide = (at: number): readonly Announcement[] => {
    const events = vigil.decide(state, clockAt(T0 + at));
    state = events.reduce(vigil.evolve, state);
    for (const event of events)
      if (event.type === 'AGENT_PRESENT' || event.type === 'AGENT_LOST')
        emitted.push(`${at / HOUR} h: ${event.type} ${event.payload.why}`);
    return events;
  };
  for (let at = 0; at <= until; at += HOUR) {
    if (at <= aliveUntil) state = vigil.observe(state, heartbeat(at, more), clockAt(T0 + at));
    decide(at);
    for (;;) {
      const due = vigil.dueAt(state, clockAt(T0 + at)) - T0;
      if (due === NEVER || due >= at + HOUR) break;
      at = Math.max(at, due);
      if (decide(at).length === 0) break;
    }
    at = Math.floor(at / HOUR) * HOUR;
  }
  return emitted;
};
const hourly: Partial<HeartbeatPayload> = { interval_ms: HOUR, activity: 'idle' };

test('a living agent is announced as present again once a day, and not more often', () => {
  expect(presenceOf(hourly, 3 * DAY, 3 * DAY - 1)).toEqual([
    '0 h: AGENT_PRESENT first_heartbeat',
    '24 h: AGENT_PRESENT still_present',
    '48 h: AGENT_PRESENT still_present',
  ]);
});

test('a lost agent is not announced as present', () => {
  const emitted = presenceOf(hourly, 10 * HOUR, 3 * DAY);
  expect(emitted[0]).toBe('0 h: AGENT_PRESENT first_heartbeat');
  expect(emitted.slice(1).map((one) => one.replace(/.*: /, ''))).toEqual(['AGENT_LOST silent']);
});
