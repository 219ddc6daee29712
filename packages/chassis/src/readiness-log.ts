import type { Logger } from 'pino';
import type { Part, Readiness } from './probes.ts';

/** A shorter absence, such as a move of partitions, is not reported. Milliseconds. */
export const REPORTED_AFTER_MS = 5_000;
const LOOK_MS = 1_000;

/** `since`: of the absence, by a monotonic clock, milliseconds; null: ready, or not started. */
export type Absence = { readonly since: number | null; readonly isReported: boolean };
export const PRESENT: Absence = { since: null, isReported: false };

export type ReadinessLine = { readonly level: 'warn' | 'info'; readonly message: string };

/** Why a part is not ready, as far as its partitions show it. */
export const reasonOf = (part: Part): string => {
  const partitions = part.status?.();
  if (partitions === undefined) return 'not connected to its source, or not caught up';
  if (partitions.length === 0) return 'no partition is assigned to it';
  const idle = partitions.filter(({ phase }) => phase !== 'running');
  if (idle.length > 0) return idle.map(({ partition, phase }) => `partition ${partition} is ${phase}`).join(', ');
  const lag = partitions.reduce((sum, one) => sum + one.lag, 0);
  return lag > 0
    ? `${lag} records are not read`
    : 'the broker does not answer, or hides records of an open transaction';
};

/** One line where a part is not ready for 5 s, and one when all are ready again. `now`: monotonic, milliseconds. */
export const observeReadiness = (
  before: Absence,
  readiness: Readiness,
  parts: Readonly<Record<string, Part>>,
  now: number,
): { readonly absence: Absence; readonly line: ReadinessLine | null } => {
  if ('because' in readiness) return { absence: PRESENT, line: null };
  const { since, isReported } = before;
  const seconds = Math.round((now - (since ?? now)) / 1000);
  if (readiness.ready) {
    const message = `ready again after ${seconds} s`;
    return { absence: PRESENT, line: isReported ? { level: 'info', message } : null };
  }
  if (since === null) return { absence: { since: now, isReported: false }, line: null };
  if (isReported || now - since < REPORTED_AFTER_MS) return { absence: before, line: null };
  const reasons = Object.entries(parts)
    .filter(([name]) => readiness.parts[name] === false)
    .map(([name, part]) => `${name}: ${reasonOf(part)}`);
  const message = `not ready for ${seconds} s: ${reasons.join('; ')}`;
  return { absence: { since, isReported: true }, line: { level: 'warn', message } };
};

/** Looks each second. */
export const logReadiness = (
  logger: Logger,
  readiness: () => Readiness,
  parts: Readonly<Record<string, Part>>,
): Disposable => {
  let known = PRESENT;
  const timer = setInterval(() => {
    const { absence, line } = observeReadiness(known, readiness(), parts, performance.now());
    known = absence;
    if (line !== null) logger[line.level](line.message);
  }, LOOK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
};
