import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Deadlines } from './deadlines.ts';
import { NEVER } from './decider.ts';

test('a key is due at its moment, not before', () => {
  const deadlines = new Deadlines();
  deadlines.arm('a', 5);
  expect(deadlines.take(4)).toEqual([]);
  expect(deadlines.take(5)).toEqual(['a']);
  expect(deadlines.take(5)).toEqual([]);
});

test('the earlier moment stands, for a later one is found when it has come', () => {
  const deadlines = new Deadlines();
  deadlines.arm('a', 5);
  deadlines.arm('a', 9);
  expect(deadlines.next).toBe(5);
  deadlines.arm('a', 3);
  expect(deadlines.next).toBe(3);
});

test('what is never due, and what has been disarmed, is not waited for', () => {
  const deadlines = new Deadlines();
  deadlines.arm('a', NEVER);
  deadlines.arm('b', 5);
  deadlines.disarm('b');
  expect(deadlines.next).toBe(NEVER);
  expect(deadlines.take(1e15)).toEqual([]);
});

test('a key that is armed again after it was disarmed is due once', () => {
  const deadlines = new Deadlines();
  deadlines.arm('a', 5);
  deadlines.disarm('a');
  deadlines.arm('a', 5);
  expect(deadlines.take(5)).toEqual(['a']);
});

test('whatever is armed and disarmed, each moment gives the keys that a search of all would give', () => {
  const steps = fc.array(
    fc.record({ key: fc.constantFrom(...'abcdefgh'), at: fc.nat(50), how: fc.constantFrom('arm', 'disarm', 'take') }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const deadlines = new Deadlines();
      const known = new Map<string, number>();
      for (const { key, at, how } of all) {
        if (how === 'arm') {
          deadlines.arm(key, at);
          known.set(key, Math.min(at, known.get(key) ?? NEVER));
        } else if (how === 'disarm') {
          deadlines.disarm(key);
          known.delete(key);
        } else {
          const due = [...known].filter(([, moment]) => moment <= at).map(([name]) => name);
          for (const name of due) known.delete(name);
          expect(deadlines.take(at).toSorted()).toEqual(due.toSorted());
        }
        expect(deadlines.next).toBe(Math.min(NEVER, ...known.values()));
      }
    }),
  );
});
