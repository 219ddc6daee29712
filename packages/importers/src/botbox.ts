import { CorrectThePolicy } from '@vigil/policy';
import { findNodeAtLocation, type Node, type ParseError, parse, parseTree, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';
import {
  aSwitch,
  aText,
  count,
  flag,
  minutes,
  type Reading,
  type Settings,
  seconds,
  sectionOf,
  setting,
} from './settings.ts';

const SECTION = 'agents.health';
const ROUTES = ['stuck_agent', 'circuit_breaker_open', 'recovery_failed'];

const ALERT = { alert: 'ops' };
const KILL_IDLE = [{ terminate: { leave: 'released', release: 'claims' } }, ALERT];
const KILL_REPEATING = [{ terminate: { leave: 'blocked' } }, { block: 'the same error again and again' }, ALERT];

/** `agents.health` of `.botbox.json`. The channel comes last: the plans before it alert there. */
export const BOTBOX: Settings = {
  '': setting(z.unknown(), (_, section) =>
    section === undefined ? 'there is none: its defaults are used, and --migrate writes them into the file' : null,
  ),
  enabled: flag('enabled'),
  idle_timeout_minutes: minutes('signals.no_output.after'),
  completion_timeout_minutes: minutes('signals.no_completion.after'),
  rate_limit_backoff_seconds: seconds('steps.pause.backoff'),
  repeated_error_threshold: count('signals.repeated_error.times'),
  auto_kill_on_idle: setting(aSwitch, (to, on, from) => {
    to.plan('no_output', on ? KILL_IDLE : [ALERT], from);
  }),
  auto_kill_on_repeated_error: setting(aSwitch, (to, on, from) => {
    to.plan('repeated_error', on ? KILL_REPEATING : [ALERT], from);
  }),
  alert_channel: setting(aText, (to, channel, from) => {
    to.put('steps.alert', channel, from);
    for (const route of ROUTES) to.put(`alerts.${route}.channels`, [channel], from);
  }),
};

/** Other parts of the file do not concern health and are not read. */
export const readBotbox: Reading = (text, mistakes) => {
  const file = parsed(text, mistakes);
  const wrong = misplaced(file);
  if (mistakes.length === 0) mistakes.push(...wrong);
  const { agents } = (wrong.length === 0 ? file : {}) as { readonly agents?: { readonly health?: unknown } };
  return sectionOf(SECTION, agents?.health);
};

/** The mistakes in the place of the section. */
export const misplaced = (file: unknown): string[] => {
  if (!isObject(file)) return ['document: is not a JSON object: give a .botbox.json'];
  const { agents = {} } = file;
  if (!isObject(agents)) return ['agents: is not an object: correct it, as botbox init writes it'];
  const { health = {} } = agents;
  return isObject(health) ? [] : [`${SECTION}: is not an object: correct it, or remove it and let --migrate write it`];
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The file as values; invalid JSON is reported with its line. */
export const parsed = (text: string, mistakes: string[]): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  for (const { error, offset } of errors)
    mistakes.push(`line ${text.slice(0, offset).split('\n').length}: ${printParseErrorCode(error)}: correct the JSON`);
  return value;
};

/** The section that the proposal writes into `.botbox.json`, in its order. */
export const BOTBOX_DEFAULTS = {
  enabled: true,
  idle_timeout_minutes: 15,
  completion_timeout_minutes: 10,
  rate_limit_backoff_seconds: 60,
  repeated_error_threshold: 5,
  auto_kill_on_idle: true,
  auto_kill_on_repeated_error: false,
  alert_channel: 'ops',
} as const;

/**
 * A `.botbox.json` with the defaults for `agents.health`; an existing section stays unchanged. No other character
 * changes.
 */
export const migrateBotbox = (text: string, source: string = '.botbox.json'): string => {
  const mistakes: string[] = [];
  const settings = parsed(text, mistakes);
  const file = parseTree(text);
  const agents = file && findNodeAtLocation(file, ['agents']);
  if (mistakes.length === 0) mistakes.push(...misplaced(settings));
  if (mistakes.length > 0 || !file) throw new CorrectThePolicy(source, mistakes);
  if (!agents) return inserted(text, file, 'agents', { health: BOTBOX_DEFAULTS });
  return findNodeAtLocation(agents, ['health']) ? text : inserted(text, agents, 'health', BOTBOX_DEFAULTS);
};

/** Inserts a member at the end of an object, in the object's format. */
const inserted = (text: string, object: Node, key: string, value: object): string => {
  const last = object.children?.at(-1);
  const at = last ? last.offset + last.length : object.offset + 1;
  const own = text.slice(object.offset, object.offset + object.length);
  const comma = last ? ',' : '';
  if (last && !own.includes('\n'))
    return `${text.slice(0, at)}${comma} "${key}": ${JSON.stringify(value)}${text.slice(at)}`;
  const { unit, eol } = styleOf(text);
  const outer = indentAt(text, object.offset);
  const inner = `${eol}${last ? indentAt(text, last.offset) : outer + unit}`;
  const member = `"${key}": ${JSON.stringify(value, null, unit).replaceAll('\n', inner)}`;
  return `${text.slice(0, at)}${comma}${inner}${member}${last ? '' : eol + outer}${text.slice(at)}`;
};

/** Detects the indentation by the first indented line, and the line end by the first one. */
const styleOf = (text: string): { readonly unit: string; readonly eol: string } => ({
  unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ',
  eol: text.includes('\r\n') ? '\r\n' : '\n',
});

/** The indentation of the line with the offset. */
const indentAt = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
