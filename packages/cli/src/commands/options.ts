import { parseDuration } from '@vigil/policy';
import { InvalidArgumentError } from 'commander';

/** `10m`, `90s`, `1.5h` as milliseconds. */
export function durationOption(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms <= 0) throw new InvalidArgumentError('Give a duration such as 10m, 90s or 1.5h.');
  return ms;
}

/** What the dashboard answers to a command. */
export type Written = { readonly eventId: string; readonly topic: string; readonly type: string; readonly key: string };

export const writtenLine = ({ type, eventId }: Written): string => `${type} is written (${eventId}).`;

export const path = (...parts: readonly string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;
