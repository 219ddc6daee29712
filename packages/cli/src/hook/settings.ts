import { isDeepStrictEqual } from 'node:util';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { Refusal } from '../errors.ts';
import { appended, namedTwice, replaced, without } from './json-text.ts';

/** A hook of Vigil in a settings file: its place, and its command. */
type Ours = {
  readonly event: string;
  readonly group: number;
  readonly hook: number;
  readonly value: Hook;
};

/** A hook as the file of a client has it. */
export type Hook = Readonly<Record<string, unknown>>;
type Found = { readonly hooks: Readonly<Record<string, readonly unknown[]>>; readonly ours: readonly Ours[] };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const placeOf = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
};

const unfit = (file: string, why: string): Refusal =>
  new Refusal(`${file} is not changed: ${why}. Correct it, then run this again.`);

/** Throws Refusal. */
const readText = (text: string, file: string): Readonly<Record<string, unknown>> => {
  if (text.trim() === '') return {};
  const errors: ParseError[] = [];
  const read: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined)
    throw unfit(
      file,
      `it cannot be read as JSON (${printParseErrorCode(first.error)} at ${placeOf(text, first.offset)})`,
    );
  if (isObject(read)) return read;
  throw unfit(file, 'it holds no object');
};

const isOurCommand = (command: unknown): boolean =>
  typeof command === 'string' && /(?:^|[\s/'"])vigil(?:\.mjs)?['"]? hook(?: --client [a-z-]+)?$/.test(command.trim());

/** The gateway's address may have changed since. Only Vigil's hook names the agent by the variable of its session. */
const isOurPost = ({ url, headers }: Hook): boolean =>
  typeof url === 'string' &&
  /\/v1\/hooks\/[a-z-]+$/.test(url) &&
  isObject(headers) &&
  headers['vigil-agent'] === '$VIGIL_AGENT';

const isOurs = (hook: unknown): hook is Hook => isObject(hook) && (isOurCommand(hook.command) || isOurPost(hook));

const within = (event: string, groups: readonly unknown[]): readonly Ours[] =>
  groups.flatMap((one, group) => {
    const hooks = isObject(one) && Array.isArray(one.hooks) ? (one.hooks as unknown[]) : [];
    return hooks.flatMap((value, hook) => (isOurs(value) ? [{ event, group, hook, value }] : []));
  });

/** Throws Refusal where the hooks are not as Claude Code has them. */
const find = (text: string, file: string): Found => {
  const { hooks = {} } = readText(text, file);
  const twice = namedTwice(text, 'hooks');
  if (twice !== null)
    throw unfit(file, `${JSON.stringify(twice.name)} is in it twice (the second at ${placeOf(text, twice.offset)})`);
  if (!isObject(hooks)) throw unfit(file, '"hooks" is not an object');
  for (const [event, groups] of Object.entries(hooks))
    if (!Array.isArray(groups)) throw unfit(file, `"hooks.${event}" is not a list`);
  const all = hooks as Found['hooks'];
  return { hooks: all, ours: Object.entries(all).flatMap(([event, groups]) => within(event, groups)) };
};

/** What the hook runs: a command, or a request to an address. */
export const targetOf = ({ command, url }: Hook): string => String(command ?? url);

/** The hook is as it should be; where only its command or its address differs, the way it is written stays. */
const renewed = (text: string, { event, group, hook, value }: Ours, wanted: Hook): string => {
  if (isDeepStrictEqual(value, wanted)) return text;
  const place = ['hooks', event, group, 'hooks', hook];
  for (const field of ['command', 'url'])
    if (isDeepStrictEqual({ ...value, [field]: wanted[field] }, wanted))
      return replaced(text, [...place, field], wanted[field]);
  return replaced(text, place, wanted);
};

/** Installs the hook once for each event; everything else stays unchanged, to the byte. Throws Refusal. */
export const withHooks = (
  text: string,
  file: string,
  hookOf: (event: string) => Hook,
  events: readonly string[],
): string => {
  const { hooks, ours } = find(text, file);
  const start = ours.reduce((so, one) => renewed(so, one, hookOf(one.event)), text);
  const missing = events.filter((event) => !ours.some((one) => one.event === event));
  const entryOf = (event: string) => ({ hooks: [hookOf(event)] });
  if (readText(text, file).hooks === undefined && missing.length > 0)
    return appended(start, [], 'hooks', Object.fromEntries(missing.map((event) => [event, [entryOf(event)]])));
  return missing.reduce(
    (so, event) =>
      hooks[event] === undefined
        ? appended(so, ['hooks'], event, [entryOf(event)])
        : appended(so, ['hooks', event], null, entryOf(event)),
    start,
  );
};

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

/** Removes the hook, and its group if the group holds no other hook. */
const removed = (text: string, file: string, { event, group, hook }: Ours): string => {
  const { hooks } = find(text, file);
  const groups = hooks[event] ?? [];
  const one = groups[group];
  if (isObject(one) && lengthOf(one.hooks) > 1) return without(text, ['hooks', event, group, 'hooks', hook]);
  return without(text, ['hooks', event, group]);
};

/** Throws Refusal. */
export const withoutHooks = (text: string, file: string): string =>
  // The last first, so that the others stay where they were found.
  [...find(text, file).ours].reverse().reduce((so, one) => removed(so, file, one), text);

/** The events that have the hook, and the hooks themselves. Throws Refusal. */
export const installed = (
  text: string,
  file: string,
): {
  readonly events: readonly string[];
  readonly hooks: readonly { readonly event: string; readonly hook: Hook }[];
} => {
  const { ours } = find(text, file);
  return {
    events: [...new Set(ours.map(({ event }) => event))],
    hooks: ours.map(({ event, value }) => ({ event, hook: value })),
  };
};
