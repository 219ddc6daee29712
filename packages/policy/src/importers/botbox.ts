import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import {
  aSwitch,
  aText,
  count,
  flag,
  type Given,
  minutes,
  type Reading,
  type Settings,
  seconds,
  setting,
  unmapped,
  valuesOf,
} from './settings.ts';

const SECTION = 'agents.health';
const ROUTES = ['stuck_agent', 'circuit_breaker_open', 'recovery_failed'];

const ALERT = { alert: 'ops' };
const KILL_IDLE = [{ terminate: { release: 'claims' } }, ALERT];
const KILL_REPEATING = [{ terminate: { leave: 'blocked' } }, { block: 'the same error again and again' }, ALERT];

/** `agents.health` of `.botbox.json` (seed 001). The channel comes last: the plans before it alert there. */
export const BOTBOX: Settings = {
  '': unmapped('there is none: its defaults are used, and --migrate writes them into the file'),
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
  const health = (parsed(text, mistakes) as { agents?: { health?: unknown } } | undefined)?.agents?.health;
  return valuesOf(health).map(
    ({ key, value }): Given => ({ key, path: key === '' ? SECTION : `${SECTION}.${key}`, value }),
  );
};

/** The file as values; what is no JSON, with its line. */
export function parsed(text: string, mistakes: string[]): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors);
  for (const { error, offset } of errors)
    mistakes.push(`line ${text.slice(0, offset).split('\n').length}: ${printParseErrorCode(error)}: correct the JSON`);
  return value;
}
