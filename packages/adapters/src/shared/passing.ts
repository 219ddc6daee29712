import { headOf } from './calls.ts';

/** Statuses of errors as APIs send them; any other number of three digits is a count. */
const isErrorStatus = (status: number): boolean =>
  (status >= 400 && status <= 451) || (status >= 500 && status <= 504) || (status >= 520 && status <= 530);

/** A status stands at the beginning of a text, or after a word that announces it: "status 400", "API Error: 529", "rejected (429)". */
const STATUS =
  /(?:^\W*|\b(?:status(?:[ _]code)?|http(?:\/[\d.]+)?|error|rejected|code)["']?\s*[:=(]?\s*["']?)(\d{3})\b/gi;

/** The HTTP status that the text of an error names; null: it names none. */
export const statusIn = (text: string): number | null => {
  const statuses = [...headOf(text).matchAll(STATUS)].map(([, digits]) => Number(digits));
  return statuses.find(isErrorStatus) ?? null;
};

/** Whether the same request may succeed after an answer of that status. */
export const passesByStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500;

const WORDS =
  /\b(?:rate[ _-]?limit(?:ed|s)?|usage limit|quota|overloaded|(?:at|selected model is at|exhausted your) capacity|high demand|stream disconnected|too many requests|service unavailable|bad gateway|gateway time-?out)\b/i;

/** For errors of unknown class and status. A number alone does not decide. */
export const passesByWords = (text: string): boolean => WORDS.test(headOf(text));
