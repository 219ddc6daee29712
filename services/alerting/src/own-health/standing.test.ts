import { expect, test } from 'vitest';
import { flipsOf, found, GRACE_MS, type Standing, written } from './standing.ts';

const T = 1_795_305_600_000;

/** One service as looks find it, in seconds; each flip is written unless `isAway`. */
const watched = () => {
  let standing: Standing = new Map();
  let isAway = false;
  const look = (s: number, why: string | null, service = 'recovery') => {
    const now = T + s * 1000;
    standing = found(standing, { [service]: why }, now);
    const flips = flipsOf(standing, now);
    for (const flip of flips) if (!isAway) standing = written(standing, flip);
    return flips.map(({ service: name, notice }) => `${notice.action} ${name}`);
  };
  return {
    look,
    setAway: (away: boolean) => {
      isAway = away;
    },
  };
};
const grace = GRACE_MS / 1000;

test('within the grace nothing is reported; after it, once', () => {
  const { look } = watched();
  expect(look(0, null)).toEqual(['resolve recovery']);
  expect(look(10, 'its time stands')).toEqual([]);
  expect(look(10 + grace - 1, 'its time stands')).toEqual([]);
  expect(look(10 + grace, 'its time stands')).toEqual(['raise recovery']);
  expect(look(11 + grace, 'its time stands')).toEqual([]);
  expect(look(3600, 'another reason')).toEqual([]);
});

test('a service that is back within the grace was never reported, and the next outage has a grace of its own', () => {
  const { look } = watched();
  look(0, null);
  look(10, 'away');
  expect(look(10 + grace - 1, null)).toEqual([]);
  expect(look(10 + grace, 'away')).toEqual([]);
  expect(look(10 + 2 * grace, 'away')).toEqual(['raise recovery']);
});

test('a service that works again is reported once', () => {
  const { look } = watched();
  look(0, 'away');
  look(grace, 'away');
  expect(look(grace + 5, null)).toEqual(['resolve recovery']);
  expect(look(grace + 10, null)).toEqual([]);
});

test('a service that was never seen is reported after the grace, too', () => {
  const { look } = watched();
  expect(look(0, 'its time has not been seen')).toEqual([]);
  expect(look(grace, 'its time has not been seen')).toEqual(['raise recovery']);
});

test('a report that could not be written is repeated until it is', () => {
  const { look, setAway } = watched();
  look(0, 'away');
  setAway(true);
  expect(look(grace, 'away')).toEqual(['raise recovery']);
  expect(look(grace + 5, 'away')).toEqual(['raise recovery']);
  setAway(false);
  expect(look(grace + 10, 'away')).toEqual(['raise recovery']);
  expect(look(grace + 15, 'away')).toEqual([]);
});

test('a report that could not be written is left out if the service works again first', () => {
  const { look, setAway } = watched();
  look(0, null);
  look(5, 'away');
  setAway(true);
  look(5 + grace, 'away');
  setAway(false);
  expect(look(10 + grace, null)).toEqual([]);
});

test('each service has its own state: one that is left out keeps it', () => {
  const { look } = watched();
  look(0, 'away', 'recovery');
  look(0, 'away', 'gateway');
  expect(look(grace, 'away', 'gateway').toSorted()).toEqual(['raise gateway', 'raise recovery']);
  expect(look(grace + 5, null, 'gateway')).toEqual(['resolve gateway']);
});
