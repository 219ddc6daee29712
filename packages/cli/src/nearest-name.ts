import { nearest } from '@vigil/policy';
import { UnknownName } from './errors.ts';
import { dashboard } from './terminal.ts';

/** Where the dashboard lists the names of each kind: the list, and the field of its rows. */
const LISTS: Readonly<Record<string, { readonly list: string; readonly field: string }>> = {
  agent: { list: 'agents', field: 'agentId' },
  alert: { list: 'alerts', field: 'alertId' },
  case: { list: 'cases', field: 'caseId' },
  host: { list: 'agents', field: 'host' },
  policy: { list: 'policies', field: 'name' },
  runtime: { list: 'agents', field: 'runtimeId' },
  task: { list: 'tasks', field: 'taskId' },
};

/** So many names are listed where none is near. */
const MOST_LISTED = 5;

/** `agent "x" does not exist; list them with …`, the dashboard's sentence. */
const SENTENCE = /^(\w+ ("(?:[^"\\]|\\.)*") does not exist); list (.*)$/s;

/** The address of the API in the sentence, which people do not need. */
const ADDRESS = / \(\/v1\/[^)]*\)/;

/** The message about an unknown name, with the name that was probably meant. `known`: the names that exist. */
export const withNearest = (message: string, known: readonly string[]): string => {
  const [, start, name, rest] = SENTENCE.exec(message) ?? [];
  if (start === undefined || name === undefined || rest === undefined) return message;
  const list = rest.replace(ADDRESS, '');
  const near = nearest(JSON.parse(name) as string, known);
  if (near !== null) return `${start}; did you mean ${near}? List ${list}`;
  if (known.length === 0 || known.length > MOST_LISTED) return `${start}; list ${list}`;
  return `${start}; use one of ${known.join(', ')}, or list ${list}`;
};

const namesOf = async (kind: string): Promise<readonly string[]> => {
  const entry = LISTS[kind];
  if (entry === undefined) return [];
  const answer = await dashboard().get<Answer>(`/v1/${entry.list}`);
  return [...new Set((answer[entry.list] ?? []).flatMap((row) => row[entry.field] ?? []))];
};

type Answer = Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>;

/** The same error with the nearest known name; without it where the dashboard does not list them now. */
export const explained = async ({ kind, message }: UnknownName): Promise<UnknownName> =>
  new UnknownName(kind, withNearest(message, await namesOf(kind).catch(() => [])));
