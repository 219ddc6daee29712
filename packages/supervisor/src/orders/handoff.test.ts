import { beforeEach, expect, test } from 'vitest';
import { noMemory } from '../agent/memory.ts';
import { Handoff } from './order-executor.ts';

let time = { wall: 1_000_000, monotonic: 5000 };
beforeEach(() => {
  time = { wall: 1_000_000, monotonic: 5000 };
});

const clock = { now: () => time.wall, monotonic: () => time.monotonic };
const passes = (ms: number): void => {
  time = { wall: time.wall + ms, monotonic: time.monotonic + ms };
};
const requested = (deadlineMs: number): Handoff => {
  const handing = new Handoff(clock, noMemory(0));
  handing.requested('handoff-1', deadlineMs);
  return handing;
};

test('an end without a handoff order is not a handoff', () => {
  expect(new Handoff(clock, noMemory(0)).orderOf(0)).toBeNull();
});

test('an end at the very deadline is the handoff’s doing; one after it is not', () => {
  const handing = requested(60_000);
  passes(60_000);
  expect(handing.orderOf(0)).toBe('handoff-1');
  passes(1);
  expect(handing.orderOf(0)).toBeNull();
});

test('what counts is when it ended, and not when that was found', () => {
  const handing = requested(60_000);
  passes(3_600_000);
  expect(handing.orderOf(3_540_000)).toBe('handoff-1');
  expect(handing.orderOf(3_539_999)).toBeNull();
});

test('a wall clock that is set changes nothing', () => {
  const handing = requested(60_000);
  time = { wall: 0, monotonic: time.monotonic + 60_001 };
  expect(handing.orderOf(0)).toBeNull();
});

test('asked again it has the time of the later order', () => {
  const handing = requested(60_000);
  passes(50_000);
  handing.requested('handoff-2', 60_000);
  passes(60_000);
  expect(handing.orderOf(0)).toBe('handoff-2');
});

test('the next supervisor has the deadline from this one, on a monotonic clock of its own', () => {
  const { memory } = requested(60_000);
  time = { wall: time.wall + 60_000, monotonic: 7 };
  const next = new Handoff(clock, JSON.parse(JSON.stringify(memory)));
  expect(next.orderOf(0)).toBe('handoff-1');
  passes(1);
  expect(next.orderOf(0)).toBeNull();
  expect(next.memory).toEqual(memory);
});

test('a note without a deadline is still understood: the handoff has none', () => {
  const next = new Handoff(clock, { handedOff: 'handoff-1' });
  passes(3_600_000);
  expect(next.orderOf(0)).toBe('handoff-1');
  expect(new Handoff(clock, { handedOff: null }).orderOf(0)).toBeNull();
});
