import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
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
} from '../settings.ts';

const SECTION = 'agents.health';
const ROUTES = ['stuck_agent', 'circuit_breaker_open', 'recovery_failed'];

const ALERT = { alert: 'ops' };
const KILL_IDLE = [{ terminate: { release: 'claims' } }, ALERT];
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
    return null;
  }),
  auto_kill_on_repeated_error: setting(aSwitch, (to, on, from) => {
    to.plan('repeated_error', on ? KILL_REPEATING : [ALERT], from);
    return null;
  }),
  alert_channel: setting(aText, (to, channel, from) => {
    to.put('steps.alert', channel, from);
    for (const route of ROUTES) to.put(`alerts.${route}.channels`, [channel], from);
    return null;
  }),
};

/** The rest of the file is not about health, and not read. */
export const readBotbox: Reading = (text, mistakes) => {
  const file = parsed(text, mistakes);
  const wrong = misplaced(file);
  if (mistakes.length === 0) mistakes.push(...wrong);
  const { agents } = (wrong.length === 0 ? file : {}) as { readonly agents?: { readonly health?: unknown } };
  return sectionOf(SECTION, agents?.health);
};

/** What stands where the section should, or where it would be written. */
export function misplaced(file: unknown): string[] {
  if (!isObject(file)) return ['document: is no JSON object: give a .botbox.json'];
  const { agents = {} } = file;
  if (!isObject(agents)) return ['agents: is not an object: correct it, as botbox init writes it'];
  const { health = {} } = agents;
  return isObject(health) ? [] : [`${SECTION}: is not an object: correct it, or remove it and let --migrate write it`];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The file as values; invalid JSON is reported with its line. */
export function parsed(text: string, mistakes: string[]): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  for (const { error, offset } of errors)
    mistakes.push(`line ${text.slice(0, offset).split('\n').length}: ${printParseErrorCode(error)}: correct the JSON`);
  return value;
}
