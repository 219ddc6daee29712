import { at, isFields, numberAt } from '../shared/payload.ts';

const resetOf = (window: unknown, when: number): number | null => {
  const epoch = numberAt(window, 'resets_at');
  if (epoch !== null) return epoch * 1000;
  // Earlier versions write the time that is left.
  const seconds = numberAt(window, 'resets_in_seconds');
  return seconds === null ? null : when + seconds * 1000;
};

/**
 * When the account's used-up limits end, in epoch milliseconds, by the `rate_limits` of a `token_count` event; null:
 * no limit is used up.
 * `before`: the previous value; an event may come without limits.
 */
export const limitedUntilIn = (limits: unknown, when: number, before: number | null): number | null => {
  const windows = [at(limits, 'primary'), at(limits, 'secondary')].filter(isFields);
  if (windows.length === 0) return before;
  const resets = windows.flatMap((window) => {
    const reset = (numberAt(window, 'used_percent') ?? 0) >= 100 ? resetOf(window, when) : null;
    return reset !== null && reset > when ? [reset] : [];
  });
  return resets.length === 0 ? null : Math.max(...resets);
};
