import type { ScreenMeaning } from '../adapter.ts';

const limited = /\b(?:429|503|529|overloaded|rate[ _-]?limit(?:ed)?|usage limit|high demand)\b/i;
const delay = /\bretrying in (?:(\d+)m\s*)?(?:(\d+)s)?/i;

const delayIn = (text: string): number | null => {
  const [, minutes, seconds] = delay.exec(text) ?? [];
  if (minutes === undefined && seconds === undefined) return null;
  return (Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
};

/** A line about a retry. `reason`: the text beside it. */
export const retrying = (text: string, reason = ''): ScreenMeaning => ({
  kind: 'retrying',
  text: text.trim(),
  limit: limited.test(text) || limited.test(reason) ? { retryInMs: delayIn(text) } : null,
});
