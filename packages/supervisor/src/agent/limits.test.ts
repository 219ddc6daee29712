import { expect, test } from 'vitest';
import { identify, residentBytes } from '../process/proc.ts';
import { parseSize } from '../runtime/runtime-config.ts';
import { limitReports, noLimits, overLimit } from './limits.ts';

const used = { memory: 300 << 20, output: 1000, time: 60_000 };

test('use of exactly the limit is allowed, a byte or a millisecond more is not', () => {
  expect(overLimit({ ...noLimits, memory: 300 << 20, output: 1000, time: 60_000 }, used)).toBe(null);
  expect(overLimit({ ...noLimits, output: 999 }, used)).toMatch(/over its limit of output/);
  expect(overLimit({ ...noLimits, time: 59_999 }, used)).toMatch(/over its limit of time: 1 min/);
  expect(overLimit({ ...noLimits, memory: 256 << 20 }, used)).toBe(
    'over its limit of memory: 300 MiB, allowed are 256 MiB',
  );
});

test('a resource without a limit, or of unknown use, is neither reported nor exceeded', () => {
  expect(overLimit(noLimits, used)).toBe(null);
  expect(limitReports(noLimits, used)).toEqual([]);
  expect(overLimit({ ...noLimits, memory: 1 }, { ...used, memory: null })).toBe(null);
  expect(limitReports({ ...noLimits, memory: 1, output: 2000 }, { ...used, memory: null })).toEqual([
    { name: 'output_bytes', used: 1000, max: 2000 },
  ]);
});

test('the memory of processes is the sum of their resident memory; processes that are gone do not count', () => {
  const own = residentBytes([process.pid]) ?? 0;
  expect(own).toBeGreaterThan(1 << 20);
  expect(residentBytes([process.pid, 0x7fff_fffe])).toBeGreaterThan(own / 2);
  expect(residentBytes([0x7fff_fffe])).toBe(null);
  expect(identify(0x7fff_fffe).startTime).toBe(null);
});

test('a size has a unit', () => {
  expect(parseSize('1.5GiB')).toBe(1.5 * (1 << 30));
  expect(parseSize('2G')).toBe(2 * (1 << 30));
  expect(parseSize('512 MiB')).toBe(512 << 20);
  expect(parseSize('100')).toBe(null);
  expect(parseSize('-1M')).toBe(null);
});
