import type { SilenceRow } from './queries/silences.ts';

/** The fields of alerts by the names that people write. Any other name is that of a field or a label. */
const FIELDS: Readonly<Record<string, string>> = { agent: 'agentId', task: 'taskId', case: 'caseId' };
const WORDS = new Map(Object.entries(FIELDS).map(([word, field]) => [field, word]));

export const fieldOf = (word: string): string => FIELDS[word] ?? word;

/** Which alerts a silence is about, as people write it: `agent=search-perf-31 team=core`. */
export const matchersText = ({ matchers }: Pick<SilenceRow, 'matchers'>): string =>
  matchers.map(({ field, value }) => `${WORDS.get(field) ?? field}=${value}`).join(' ');
