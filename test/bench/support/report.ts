import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** One figure: the value of each run, and other values of the same runs. `better`: the direction of improvement. */
export type Figure = {
  readonly name: string;
  readonly unit: string;
  readonly runs: readonly number[];
  readonly reference?: { readonly name: string; readonly runs: readonly number[] };
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The `q` quantile. */
export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
};

const shown = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

const row = ({ name, unit, runs, reference }: Figure): readonly string[] => {
  const own = [name, shown(median(runs)), unit, runs.map(shown).join(' ')];
  if (reference === undefined) return [...own, '', '', ''];
  return [...own, reference.name, shown(median(reference.runs)), (median(runs) / median(reference.runs)).toFixed(2)];
};

const HEAD = ['figure', 'median', 'unit', 'runs', 'beside', 'median', 'ratio'];

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
  return rows.map((cells) => line(cells).trimEnd()).join('\n');
};

/** A benchmark's result as it is kept. `at`: ISO 8601 */
export type Result = {
  readonly benchmark: string;
  readonly at: string;
  readonly machine: { readonly cores: number; readonly model: string; readonly node: string };
  readonly figures: readonly Figure[];
};

const RESULT = '--result=';

/** The figures as a table in Markdown. */
export const markdownOf = (figures: readonly Figure[]): string =>
  [HEAD, HEAD.map(() => '---'), ...figures.map(row)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/**
 * The figures on standard output: a table, or one line of JSON with `--json`. They are also kept in the file that
 * `npm run bench` names by `--result`.
 */
export const report = (benchmark: string, figures: readonly Figure[]): void => {
  const machine = { cores: cpus().length, model: cpus()[0]?.model ?? 'unknown', node: process.version };
  const result: Result = { benchmark, at: new Date().toISOString(), machine, figures };
  const file = process.argv.find((word) => word.startsWith(RESULT))?.slice(RESULT.length);
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(result)}\n`);
  if (process.argv.includes('--json')) console.log(JSON.stringify(result));
  else
    console.log(
      `${machine.cores} cores, ${machine.model}, Node ${machine.node}\n${table([HEAD, ...figures.map(row)])}`,
    );
};

/** The progress of a long benchmark: on standard error, beside the figures. */
export const print = (line: string): void => console.error(`[bench] ${line}`);
