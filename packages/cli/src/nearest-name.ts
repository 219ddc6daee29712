import { nearest } from '@vigil/policy';
import { UnknownName } from './errors.ts';
import { dashboard } from './terminal.ts';

/** Where the dashboard lists the names of each kind: the list, and the field of its rows. */
const LISTS: Readonly<Record<string, { readonly list: string; readonly field: string }>> = {
  agent: { list: 'agents', field: 'agentId' },
  alert: { list: 'alerts', field: 'alertId' },
  case: { list: 'cases', field: 'caseId' },
  policy: { list: 'policies', field: 'name' },
  task: { list: 'tasks', field: 'taskId' },
};

/** So many names are listed where none is near. */
const MOST_LISTED = 5;

/** `There is no agent "x": …` without the address of the API, which people do not need. */
const SENTENCE = /^(There is no \w+ "(?:[^"\\]|\\.)*"): (.*)$/s;

/** The message about an unknown name, with the name that was probably meant. `known`: the names that there are. */
export const withNearest = (message: string, known: readonly string[]): string => {
  const [, start, rest = ''] = SENTENCE.exec(message) ?? [];
  if (start === undefined) return message;
  const near = nearest(JSON.parse(start.slice(start.indexOf('"'))) as string, known);
  const listed = known.length > 0 && known.length <= MOST_LISTED ? ` there are ${known.join(', ')};` : '';
  const meant = near === null ? listed : ` did you mean ${near}?`;
  return `${start}:${meant} ${rest.replace(/ \(\/v1\/[^)]*\)/, '')}`;
};

const namesOf = async (kind: string): Promise<readonly string[]> => {
  const entry = LISTS[kind];
  if (entry === undefined) return [];
  const answer = await dashboard().get<Answer>(`/v1/${entry.list}`);
  return (answer[entry.list] ?? []).flatMap((row) => row[entry.field] ?? []);
};

type Answer = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;

/** The same error with the nearest known name; without it where the dashboard does not list them now. */
export const explained = async ({ kind, message }: UnknownName): Promise<UnknownName> =>
  new UnknownName(kind, withNearest(message, await namesOf(kind).catch(() => [])));
