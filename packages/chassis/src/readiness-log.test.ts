import { expect, test } from 'vitest';
import type { Part } from './probes.ts';
import { readinessOf } from './probes.ts';
import { type Absence, observeReadiness, PRESENT, reasonOf } from './readiness-log.ts';

const part = (ready: boolean, status?: Part['status']): Part => ({
  ready: () => ready,
  ...(status === undefined ? {} : { status }),
});

/** The lines of a part that is looked at once a second. */
const linesOf = (answers: readonly boolean[], stopping = false): readonly (string | null)[] => {
  let absence: Absence = PRESENT;
  return answers.map((ready, second) => {
    const parts = { api: part(ready), other: part(true) };
    const next = observeReadiness(absence, readinessOf(parts, stopping), parts, second * 1000);
    absence = next.absence;
    return next.line && `${next.line.level}: ${next.line.message}`;
  });
};
const absent = (seconds: number) => Array<boolean>(seconds).fill(false);

test('a service that is not ready for 5 s writes one line with the part and the reason, and one when it is ready again', () => {
  const lines = linesOf([true, ...absent(9), true, true]);
  expect(lines.filter((line) => line !== null)).toEqual([
    'warn: not ready for 5 s: api: not connected to its source, or not caught up',
    'info: ready again after 9 s',
  ]);
  expect(lines.indexOf(lines.find((line) => line !== null) as string)).toBe(6);
});

test('an absence of less than 5 s writes nothing, also when it ends', () => {
  expect(linesOf([...absent(5), true, ...absent(5), true]).filter((line) => line !== null)).toEqual([]);
});

test('a service that is stopping writes nothing', () => {
  expect(linesOf(absent(20), true).filter((line) => line !== null)).toEqual([]);
});

test('the reason is what the partitions of the part show', () => {
  const reads = { processor: 'p', lag: 0 } as const;
  const of = (...partitions: ReturnType<NonNullable<Part['status']>>) => reasonOf(part(false, () => partitions));
  expect(of()).toBe('no partition is assigned to it');
  expect(of({ ...reads, partition: 2, phase: 'restoring' }, { ...reads, partition: 3, phase: 'running' })).toBe(
    'partition 2 is restoring',
  );
  expect(of({ ...reads, partition: 2, phase: 'running', lag: 7 })).toBe('7 records are not read');
  expect(of({ ...reads, partition: 2, phase: 'running' })).toBe(
    'the broker does not answer, or hides records of an open transaction',
  );
});
