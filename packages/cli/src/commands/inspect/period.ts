import { parseDuration } from '@vigil/policy';
import { type Command, InvalidArgumentError } from 'commander';
import type { Period } from '../../render/period.ts';

/** A time, as people give it: a duration before `now`, such as `2h` or `2h ago`, or a date that is unambiguous. `now`: epoch milliseconds. */
export const instantOf = (text: string, now: number): number | null => {
  const before = parseDuration(text.replace(/\s+ago$/, ''));
  if (before !== null) return now - before;
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
};

/** A time of an option, epoch milliseconds. */
export const instantOption = (text: string): number => {
  const at = instantOf(text, Date.now());
  if (at === null) throw new InvalidArgumentError('Give a duration such as 2h, or a time such as 2026-11-27T14:00Z.');
  return at;
};

export type PeriodOptions = { readonly since?: number; readonly until?: number };

export const periodOf = ({ since, until }: PeriodOptions): Period => ({
  from: since ?? Number.NEGATIVE_INFINITY,
  to: until ?? Number.POSITIVE_INFINITY,
});

/** Adds --since and --until. `what`: what they limit. */
export const withPeriod = (command: Command, what: string): Command =>
  command
    .option(
      '--since <time>',
      `${what} from then on: 2h or "2h ago", or a time such as 2026-11-27T14:00Z`,
      instantOption,
    )
    .option('--until <time>', `${what} until then`, instantOption);
