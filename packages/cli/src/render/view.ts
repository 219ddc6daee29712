import { stripVTControlCharacters } from 'node:util';
import { spell } from '@vigil/policy';
import type { Colors } from 'picocolors/types.js';

/** What rendering depends on besides the data. `now`: epoch milliseconds; `width`: columns. */
export type View = {
  readonly now: number;
  readonly paint: Colors;
  readonly width: number;
  /** minutes to be added to UTC */
  readonly offsetMinutes: number;
};

const DAY_MS = 86_400_000;

/** `14:03:10`; with its date where that is not today's. */
export const clockTime = ({ now, offsetMinutes }: View, at: number): string => {
  const local = (ms: number) => new Date(ms + offsetMinutes * 60_000).toISOString();
  const text = local(at);
  const today = Math.abs(now - at) < DAY_MS && local(now).slice(0, 10) === text.slice(0, 10);
  return today ? text.slice(11, 19) : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
};

/** `2 min 3 s`, never negative: two clocks may differ. */
export const ageText = ({ now }: View, at: number): string => spell(Math.max(0, now - at));

export const orDash = (text: string | number | null | undefined): string =>
  text === null || text === undefined || text === '' ? '-' : String(text);

export const paintState = ({ paint }: View, state: string): string => {
  if (state.startsWith('was ')) return paint.dim(state);
  if (state === 'HEALTHY') return paint.green(state);
  if (state === 'DEGRADED') return paint.yellow(state);
  if (state === 'TERMINATED' || state === 'UNKNOWN') return paint.dim(state);
  return paint.bold(paint.red(state));
};

export const cut = (text: string, width: number): string =>
  text.length <= width ? text : width <= 1 ? text.slice(0, width) : `${text.slice(0, width - 1)}…`;

/** A painted line that is too long is cut, and loses its colours. */
export const cutPainted = (line: string, width: number): string => {
  const text = stripVTControlCharacters(line);
  return text.length <= width ? line : cut(text, width);
};

/** How many lines of the terminal these take; one that is wider than the terminal takes several. */
export const heightOf = ({ width }: View, lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / width)), 0);

export type Column<Row> = {
  readonly title: string;
  readonly of: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
  /** takes the rest of the line */
  readonly rest?: boolean;
  /** where a line has no room for all columns, the one with the lowest number is left out first; missing: never */
  readonly leftOut?: number;
};

const GAP = 2;
const LEAST = 12;

const widthOf = <Row>({ title, of }: Column<Row>, rows: readonly Row[]): number =>
  Math.max(title.length, ...rows.map((row) => of(row).length));

/** The columns that a line has room for, and those that are never left out. */
const fitting = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): readonly Column<Row>[] => {
  const needed = columns.reduce((sum, one) => sum + GAP + (one.rest ? LEAST : widthOf(one, rows)), -GAP);
  const first = Math.min(...columns.map(({ leftOut }) => leftOut ?? Number.POSITIVE_INFINITY));
  if (needed <= width || first === Number.POSITIVE_INFINITY) return columns;
  return fitting(
    columns.filter(({ leftOut }) => leftOut !== first),
    rows,
    width,
  );
};

/** The least room for the text of the last column beside others, and how far further lines of a row are indented. */
const ROOM = 28;
const INDENT = 2;

/** The columns of each line of a row: of one line, unless it has no room for all columns. */
const linesOf = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly (readonly Column<Row>[])[] => {
  const lines: Column<Row>[][] = [];
  let left = 0;
  for (const column of columns) {
    const needed = column.rest ? Math.min(ROOM, widthOf(column, rows)) : widthOf(column, rows);
    const line = lines.at(-1);
    if (line !== undefined && needed <= left) line.push(column);
    else {
      lines.push([column]);
      left = line === undefined ? width : width - INDENT;
    }
    left -= needed + GAP;
  }
  return lines;
};

/** The titles and the rows of columns that share a line. */
const sharedLine = <Row>(
  { paint, width }: View,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  indent: number,
): readonly string[] => {
  const widths = columns.map((column) => widthOf(column, rows));
  const fixed = widths.reduce((sum, w, i) => sum + (columns[i]?.rest ? 0 : w) + GAP, 0) - GAP;
  const wide = columns.map(({ rest }, i) => (rest ? Math.max(LEAST, width - indent - fixed) : (widths[i] ?? 0)));
  const line = (texts: readonly string[], painted: (text: string, i: number) => string) =>
    texts
      .map((text, i) => {
        const shown = cut(text, wide[i] ?? 0);
        const last = i === texts.length - 1;
        return painted(shown, i) + (last ? '' : ' '.repeat((wide[i] ?? 0) - shown.length + GAP));
      })
      .join('');
  const titles = line(
    columns.map(({ title }) => title),
    (text) => paint.dim(text),
  );
  const cells = rows.map((row) =>
    line(
      columns.map(({ of }) => of(row)),
      (text, i) => columns[i]?.paint?.(text, row) ?? text,
    ),
  );
  return [titles, ...cells].map((text) => ' '.repeat(indent) + text);
};

/**
 * Columns under titles, each as wide as it must be. Where columns can be left out, a row is one line; otherwise it has as
 * many as its columns need. `none`: the line without a row
 */
export const table = <Row>(view: View, all: readonly Column<Row>[], rows: readonly Row[], none: string): string[] => {
  if (rows.length === 0) return [none];
  const columns = fitting(all, rows, view.width);
  const isOneLine = all.some(({ leftOut }) => leftOut !== undefined);
  const lines = isOneLine ? [columns] : linesOf(columns, rows, view.width);
  const rendered = lines.map((line, i) => sharedLine(view, line, rows, i === 0 ? 0 : INDENT));
  return [-1, ...rows.keys()].flatMap((row) => rendered.map((texts) => texts[row + 1] ?? ''));
};
