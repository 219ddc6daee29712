import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, heartbeat, history, T0 } from '../../fixture.ts';
import { checkpointsAfter } from './checkpoints.ts';

const saved = (valid: boolean | null, reason: string | null = null): Partial<HeartbeatPayload> => ({
  checkpoint: {
    ...{ checkpoint_id: 'c-1', parent_id: null, uri: 'file:///c-1.json', sha256: null, created_at: T0 },
    ...{ valid, invalid_reason: reason, completed_work: [], remaining_work: ['tests'] },
  },
});
const newest = (...heartbeats: readonly Partial<HeartbeatPayload>[]) =>
  history(heartbeats.map((heartbeat, second) => [second * 1000, heartbeat])).checkpoint;

test('a checkpoint that its runtime reads later is recorded as valid, or as invalid with the reason', () => {
  expect(newest(saved(null)).newest).toMatchObject({ checkpointId: 'c-1', valid: null });
  expect(newest(saved(null), saved(true)).newest).toMatchObject({ valid: true, invalidReason: null });
  const differs = { valid: false, invalidReason: 'sha256_differs' };
  expect(newest(saved(null), saved(false, 'sha256_differs')).newest).toMatchObject(differs);
  expect(newest(saved(false, 'sha256_differs'), saved(true)).newest).toMatchObject({ valid: true });
});

test.each(['not_here', 'missing', 'unreadable'])('a checkpoint that is %s on one host is not invalid', (why) => {
  expect(newest(saved(false, why)).newest).toMatchObject({ valid: null, invalidReason: null });
  expect(newest(saved(null), saved(false, why)).newest).toMatchObject({ valid: null, invalidReason: null });
  expect(newest(saved(true), saved(false, why)).newest).toMatchObject({ valid: true, invalidReason: null });
});

test('a checkpoint that an older version stored as missing is not invalid after its next report; one with another hash is', () => {
  const kept = (invalidReason: string) => {
    const before = newest(saved(null));
    const older = { ...before, newest: before.newest && { ...before.newest, valid: false, invalidReason } };
    const at = { now: T0, watched: 0, stamp: T0, previous: null };
    return checkpointsAfter(older, heartbeat(0, saved(null)).payload, at).newest;
  };
  expect(kept('missing')).toMatchObject({ checkpointId: 'c-1', valid: null, invalidReason: null });
  expect(kept('sha256_differs')).toMatchObject({ valid: false, invalidReason: 'sha256_differs' });
});

test('a heartbeat without the validity of a checkpoint does not erase it', () => {
  expect(newest(saved(true), saved(null)).newest).toMatchObject({ valid: true });
});

const writtenAt = (createdAt: number | null): Partial<HeartbeatPayload> => {
  const { checkpoint } = saved(null);
  return checkpoint ? { checkpoint: { ...checkpoint, created_at: createdAt } } : {};
};

test('a checkpoint that is updated in place, with a later time, is a new one, not yet read', () => {
  const updated = newest(saved(true), writtenAt(T0 + 500));
  expect(updated.mark).toBe(newest({}, writtenAt(T0 + 500)).mark);
  expect(updated.newest).toMatchObject({ checkpointId: 'c-1', valid: null });
});

test.each([T0, T0 - 1, null])(
  'the same checkpoint with the same, an earlier or no time is not a new one',
  (createdAt) => {
    const repeated = newest(saved(true), writtenAt(createdAt));
    expect(repeated.mark).toBe(newest(saved(null)).mark);
    expect(repeated.newest).toMatchObject({ valid: true });
  },
);

/** A checkpoint that was written at this time; null: its time is not reported. */
const written = (id: string, createdAt: number | null): Partial<HeartbeatPayload> => {
  const { checkpoint } = writtenAt(createdAt);
  return checkpoint ? { checkpoint: { ...checkpoint, checkpoint_id: id } } : {};
};

test('older checkpoints that an agent reports in turn are not new ones, and the loop that they accompany continues', () => {
  const loops = (from: number, one: (second: number) => Partial<HeartbeatPayload>) =>
    Array.from(
      { length: 6 },
      (_, i) => [(from + i) * 1000, { ...one(from + i), tool_calls: [call(`c${from + i}`)] }] as const,
    );
  const inTurn = loops(2, (second) => written(second % 2 === 0 ? 'a' : 'b', T0 + (second % 2) * 1000));
  const [once, again] = [history(inTurn.slice(0, 2)), history(inTurn)];
  expect(again.checkpoint).toEqual(once.checkpoint);
  expect(again.checkpoint.newest?.checkpointId).toBe('b');
  expect(again.runs.exact.top[0]).toBe(5);
  expect(history(loops(2, (second) => written(`k${second}`, T0 + second * 1000))).runs.exact.top[0]).toBe(0);
  expect(history(loops(2, (second) => written('k', T0 + second * 1000))).runs.exact.top[0]).toBe(0);
});

test('of two checkpoints that were written at the same time, the second is new', () => {
  expect(newest(written('a', T0), written('b', T0)).newest?.checkpointId).toBe('b');
});

test('without a time of either, another id is a new checkpoint, and the same is not', () => {
  const at = (...ids: readonly string[]) => newest(...ids.map((id) => written(id, null)));
  expect(at('a', 'b').mark).toBe(newest({}, written('b', null)).mark);
  expect(at('a', 'a').mark).toBe(at('a').mark);
});

test('an agent that begins to report times has a new checkpoint if it was written after the first report of the last', () => {
  const first = written('k', null);
  expect(newest(first, {}, {}, written('k', T0)).mark).toBe(newest(first).mark);
  expect(newest(first, {}, {}, written('k', T0 - 1)).mark).toBe(newest(first).mark);
  expect(newest(first, {}, {}, written('k', T0 + 1)).mark).not.toBe(newest(first).mark);
  expect(newest(first, written('k', T0 + 500), written('k', T0 + 1500)).mark).toBe(
    newest({}, {}, written('k', T0 + 1500)).mark,
  );
});

test('a read of a checkpoint does not make it newer', () => {
  expect(newest(saved(null), saved(true)).mark).toBe(newest(saved(null)).mark);
});
