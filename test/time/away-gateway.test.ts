import type { ToolCall } from '@vigil/events';
import { type Announcement, Folding } from '@vigil/health';
import { brief, call, heartbeat, policyOf, T0 } from '@vigil/health/fixture';
import { clockAt } from '@vigil/stream/testing';
import {
  answered,
  type Identity,
  nextHeartbeat,
  noHeartbeats,
  noTerminal,
  withReport,
} from '@vigil/supervisor/replaying';
import { expect, test } from 'vitest';

const SECOND = 1000;
const who: Identity = {
  ...{ agentId: 'a1', instanceId: 'a1.i1', parentAgentId: null, taskId: 'T-1', runtimeId: 'host-1' },
  ...{ attempt: 0, maxAttempts: null, policy: null, labels: {} },
};
const policies = policyOf(`
policy: calls
signals: { call_overdue: { buffer: 0s, default_deadline: { tool: 25s } } }
states: { STUCK: [call_overdue] }
`);

/**
 * An agent that edits a file each second, under a supervisor whose gateway takes no heartbeat for a time. That time is
 * not watched.
 */
const editing = (awayFrom: number, awayTo: number, until: number): readonly Announcement[] => {
  const folding = new Folding(policies);
  const found: Announcement[] = [];
  let state = noHeartbeats;
  const clock = (at: number) => {
    const unwatched = Math.max(0, Math.min(at, awayTo) - awayFrom);
    return clockAt(T0 + at, { watched: T0 + at - unwatched });
  };
  const report = (toolCall: ToolCall, at: number) => {
    state = withReport(state, { tool_calls: [toolCall] }, T0 + at);
  };
  const send = (at: number) => {
    state = nextHeartbeat(state, who, noTerminal, T0 + at, SECOND);
    if (at >= awayFrom && at < awayTo) return;
    const input = heartbeat(at, state.inFlight ?? {});
    found.push(...folding.fold({ clock: clock(at), input }).emitted);
    state = answered(state);
  };
  for (let at = 0; at < until; at += SECOND) {
    const edit = call(`edit-${at}`, { tool: 'Edit', started_at: T0 + at });
    report({ ...edit, outcome: 'running' }, at);
    send(at + 100);
    report({ ...edit, ended_at: T0 + at + 500 }, at + 500);
    send(at + 600);
    found.push(...folding.fold({ clock: clock(at + 700), input: null }).emitted);
  }
  return found;
};

test('an agent that makes any number of calls while its gateway is away is not STUCK at a call that has ended', () => {
  for (const awayS of [10, 99, 101, 300]) {
    // The heartbeat that is in flight all the time carries the start of a call.
    const found = brief(editing(10_050, 10_050 + awayS * SECOND, (awayS + 60) * SECOND));
    expect({ awayS, found: found.filter((one) => one.includes('STUCK')) }).toEqual({ awayS, found: [] });
  }
});
