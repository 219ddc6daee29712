import { brief, readable } from '@vigil/policy';
import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { flag, no, type Reading, type Settings, sectionOf, setting } from './settings.ts';

const SECTION = 'daemon';
/** Sections that identify the file of a city. */
const CITY = [SECTION, 'workspace', 'agent'];
const MOST_LINES = 2000;
const UNITS = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

const AMOUNT = String.raw`(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)`;

/** Parses a Go duration (`10m`, `+1h30m0s`, `-.5h`) to milliseconds; null if it is invalid. */
const goDuration = (text: string): number | null => {
  const [, sign, figures = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (!new RegExp(`^(${AMOUNT})+$`).test(figures)) return figures === '0' ? 0 : null;
  let ms = 0;
  for (const [, amount, unit] of figures.matchAll(new RegExp(AMOUNT, 'g')))
    ms += Number(amount) * UNITS[unit as keyof typeof UNITS];
  return Math.round(sign === '-' ? -ms : ms);
};

const noDuration = no('Go duration', '"10m"');
const threshold = z.string(noDuration).superRefine((text, { addIssue }) => {
  const ms = text === '' ? 0 : goDuration(text);
  if (ms === null) addIssue({ code: 'custom', message: noDuration.error({ input: text }) });
  else if (ms < 0) addIssue({ code: 'custom', message: `${JSON.stringify(text)} is below zero: write one like "10m"` });
});
const pattern = z.string(no('pattern', '"(?i)api error"')).superRefine(readable);
const patterns = z.array(pattern, no('list of patterns', '["(?i)api error"]'));

/** gascity's `[daemon]`. A value that counts as unset keeps the preset's. */
export const GASCITY: Settings = {
  '': setting(z.unknown(), (_, section) =>
    section === undefined ? 'there is none: its defaults are used, and the sweep is off by default' : null,
  ),
  stuck_sweep: flag('enabled'),
  stuck_wisp_threshold: setting(threshold, (to, text, from) => {
    for (const signal of text === '' ? [] : ['no_work_update', 'progress_mismatch'])
      to.put(`signals.${signal}.after`, brief(goDuration(text) ?? 0), from);
  }),
  stuck_error_patterns: setting(patterns, (to, all, from) => {
    to.put('signals.error_pattern.patterns', all, from);
  }),
  stuck_peek_lines: setting(z.int(no('whole number', '50')), (to, lines, from) => {
    const within = Math.min(lines, MOST_LINES);
    if (lines > 0) to.put('signals.error_pattern.lines', within, from);
    return within === lines ? null : `at most ${MOST_LINES} lines are searched, as in gascity: ${within} is written`;
  }),
  stuck_warrant_label: setting(z.string(no('label', '"pool:dog"')), (to, label, from) => {
    if (label !== '') to.put('warrant.label', label, from);
  }),
};

const isTable = (value: unknown): boolean =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

/** Other parts of the file do not concern stuck agents and are not read. */
export const readGascity: Reading = (text, mistakes) => {
  try {
    const city = parse(text);
    if (!CITY.some((section) => section in city)) return [];
    const daemon = city[SECTION];
    if (daemon === undefined || isTable(daemon)) return sectionOf(SECTION, daemon);
    mistakes.push(`${SECTION}: is not a table: write its keys below [${SECTION}]`);
    return [];
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    mistakes.push(`line ${error.line}: ${error.message.split('\n')[0]}: correct the TOML`);
    return [];
  }
};
