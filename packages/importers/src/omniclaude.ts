import { documentsOf } from '@vigil/policy';
import { z } from 'zod';
import {
  copied,
  countOrNone,
  flag,
  type Given,
  minutes,
  no,
  type Reading,
  type Settings,
  seconds,
  unmapped,
  valuesOf,
  withoutRepeats,
} from './settings.ts';

const percent = copied(
  z.number(no('percentage', '80')).min(0, no('percentage', '80')).max(100, no('percentage', '80')),
  (pct) => pct / 100,
);
const folder = copied(z.string(no('folder', '"dispatch-log/"')).min(1, no('folder', '"dispatch-log/"')));
const whose = unmapped('names one agent: a policy applies to many; assign.yaml assigns it');

/** Other names of the same switch. */
const NAMES: Readonly<Record<string, string>> = {
  timeout_minutes: 'stall_timeout_minutes',
  DISPATCH_TIMEOUT_MINUTES: 'stall_timeout_minutes',
};

/** The switches of agent_healthcheck, and its arguments under their own names. */
export const OMNICLAUDE: Settings = {
  stall_timeout_minutes: minutes('signals.no_calls.after'),
  bash_long_timeout_buffer_seconds: seconds('signals.no_calls.buffer'),
  context_threshold_pct: percent('signals.context_exhausted.above'),
  max_redispatches: countOrNone('recovery.max_attempts'),
  emit_healthcheck_events: flag('recovery.emit_healthcheck'),
  dispatch_log_dir: folder('files.dispatch_log'),
  ticket_id: whose,
  agent_id: whose,
};

/** The skill's page with its table of switches, its arguments (`--timeout-minutes 5`), or the switches as YAML or JSON. */
export const readOmniclaude: Reading = (text, mistakes) => {
  const rows = tableOf(text) ?? argumentsOf(text);
  const given = rows
    ? rows.map(([name, value]) => ({ path: name, value: scalar(value) }))
    : documentsOf(text, mistakes).flatMap((document) => valuesOf(document));
  const named = given.map(({ path, value }): Given => ({ key: NAMES[path] ?? path, path, value }));
  return withoutRepeats(named, mistakes);
};

type Rows = (readonly [name: string, value: string])[];

/** The rows under `Switch | Default`: name and value, with or without the outer pipes. */
const tableOf = (text: string): Rows | null => {
  const lines = text.split('\n');
  const head = lines.findIndex((line) => /^\|?\s*Switch\s*\|\s*(Default|Value)\s*\|/i.test(line));
  if (head < 0) return null;
  const after = lines.slice(head + 1);
  const end = after.findIndex((line) => !line.includes('|'));
  return after.slice(0, end < 0 ? undefined : end).flatMap((line): Rows => {
    const [name = '', value = ''] = line
      .replace(/^\s*\|/, '')
      .split('|')
      .map((cell) => cell.replaceAll('`', '').trim());
    return /^:?-+:?$/.test(name) ? [] : [[name, value]];
  });
};

const argumentsOf = (text: string): Rows | null => {
  const found = [...text.matchAll(/(?:^|\s)--([a-z-]+)(?:=|\s+)(\S+)/g)];
  return found.length === 0 ? null : found.map(([, name = '', value = '']) => [name.replaceAll('-', '_'), value]);
};

/** Invalid YAML is read as a text. */
const scalar = (text: string): unknown => {
  const mistakes: string[] = [];
  const [value = null] = documentsOf(text, mistakes);
  return mistakes.length > 0 ? text : value;
};
