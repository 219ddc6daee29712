import { expect, test } from 'vitest';
import { leaseOf, renewalOf } from './warrant.ts';

const terms = { renewMs: 60_000, voidMs: 180_000 };
const HOUR = 3_600_000;

test('a warrant of a living agent is valid for `void`, and is renewed every `renew`', () => {
  const voidAt = leaseOf(1_000_000, 4_600_000, terms);
  expect(voidAt).toBe(1_180_000);
  expect(renewalOf(voidAt, 4_600_000, terms)).toBe(1_060_000);
});

test('a warrant of an end is renewed like any other at first', () => {
  expect(renewalOf(leaseOf(1_000_000, 1_000_000, terms), 1_000_000, terms)).toBe(1_060_000);
  expect(renewalOf(leaseOf(1_120_000, 1_000_000, terms), 1_000_000, terms)).toBe(1_180_000);
});

test('and then less and less often, always before it is void', () => {
  const endAt = 1_000_000;
  let now = endAt;
  let renewals = 0;
  while (now < endAt + 24 * HOUR) {
    const voidAt = leaseOf(now, endAt, terms);
    const next = renewalOf(voidAt, endAt, terms);
    expect(next).toBeGreaterThan(now);
    expect(next).toBeLessThan(voidAt);
    now = next;
    renewals += 1;
  }
  expect(renewals).toBeLessThan(25);
});
