import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NEVER } from '../processor/decider.ts';
import { type Armed, Deadlines } from './deadlines.ts';

type Named = Armed & { readonly name: string };
const named = (name: string): Named => ({ name, armedAt: NEVER });
const names = (items: readonly Named[]) => items.map(({ name }) => name);

test('an item is due at its time, not before', () => {
  const deadlines = new Deadlines<Named>();
  deadlines.arm(named('a'), 5);
  expect(names(deadlines.take(4))).toEqual([]);
  expect(names(deadlines.take(5))).toEqual(['a']);
  expect(names(deadlines.take(5))).toEqual([]);
});

test('an earlier time stays armed: the later one is found when the earlier has come', () => {
  const deadlines = new Deadlines<Named>();
  const a = named('a');
  deadlines.arm(a, 5);
  deadlines.arm(a, 9);
  expect(deadlines.next).toBe(5);
  deadlines.arm(a, 3);
  expect(deadlines.next).toBe(3);
  expect(names(deadlines.take(9))).toEqual(['a']);
});

test('a disarmed item, and one that is never due, arm no deadline', () => {
  const deadlines = new Deadlines<Named>();
  const b = named('b');
  deadlines.arm(named('a'), NEVER);
  deadlines.arm(b, 5);
  deadlines.disarm(b);
  expect(deadlines.next).toBe(NEVER);
  expect(names(deadlines.take(1e15))).toEqual([]);
});

test('an item that is armed again after it was disarmed is due once', () => {
  const deadlines = new Deadlines<Named>();
  const a = named('a');
  deadlines.arm(a, 5);
  deadlines.disarm(a);
  deadlines.arm(a, 5);
  expect(names(deadlines.take(5))).toEqual(['a']);
});

test('after any sequence of arming and disarming, each time has the due items that a full search would find', () => {
  const step = fc.record({ which: fc.nat(7), at: fc.nat(50), how: fc.constantFrom('arm', 'disarm', 'take') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (all) => {
      const deadlines = new Deadlines<Named>();
      const items = Array.from('abcdefgh', named);
      const known = new Map<string, number>();
      for (const { which, at, how } of all) {
        const item = items[which]!;
        if (how === 'arm') {
          deadlines.arm(item, at);
          known.set(item.name, Math.min(at, known.get(item.name) ?? NEVER));
        } else if (how === 'disarm') {
          deadlines.disarm(item);
          known.delete(item.name);
        } else {
          const due = [...known].filter(([, moment]) => moment <= at).map(([name]) => name);
          for (const name of due) known.delete(name);
          expect(names(deadlines.take(at)).toSorted()).toEqual(due.toSorted());
        }
        expect(deadlines.next).toBe(Math.min(NEVER, ...known.values()));
      }
    }),
  );
});
