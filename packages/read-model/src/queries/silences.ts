import type { AlertMatcher } from '@vigil/events';
import type { Sql } from '../apply.ts';
import { column, list, type RowOf, when } from './select.ts';

const silence = {
  silenceId: column<string>(),
  matchers: column<readonly AlertMatcher[]>(),
  until: column<number>(),
  by: column<string>('changed_by'),
  why: column<string>(),
};

/** `until`: epoch milliseconds. */
export type SilenceRow = RowOf<typeof silence>;

/** The silences that are in force at a moment, by their end. */
export const silences = (sql: Sql, now: number): Promise<readonly SilenceRow[]> =>
  list(
    sql,
    silence,
    'silences',
    [when('until > to_timestamp($?::double precision / 1000)', now)],
    'until, silence_id',
    1000,
  );
