const ALTERNATE = '\u001b[?1049h';
const ORDINARY = '\u001b[?1049l';
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CUT_LONG_LINES = '\u001b[?7l';
const WRAP_LONG_LINES = '\u001b[?7h';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

const to = (row: number): string => `\u001b[${row + 1};1H`;

/**
 * What to write so that a terminal of `rows` that shows `before` shows `after`: the changed lines only. `before` null: all
 * lines. A line is cleared before it is written: behind a full line the cursor is on its last character.
 */
export const changes = (before: readonly string[] | null, after: readonly string[], rows: number): string => {
  const lines = after.flatMap((line, row) => (before?.[row] === line ? [] : [`${to(row)}${CLEAR_LINE}${line}`]));
  const isShorter = after.length < rows && (before === null || before.length > after.length);
  return lines.join('') + (isShorter ? `${to(after.length)}${CLEAR_BELOW}` : '');
};

/** A screen of its own, which leaves the lines of the shell as they were. */
export type Drawing = {
  readonly draw: (lines: readonly string[], rows: number) => void;
  /** the next drawing writes every line: the terminal may show something else */
  readonly forget: () => void;
  readonly leave: () => void;
};

export const openDrawing = (write: (text: string) => void): Drawing => {
  let before: readonly string[] | null = null;
  write(ALTERNATE + HIDE_CURSOR + CUT_LONG_LINES);
  return {
    draw: (lines, rows) => {
      const text = changes(before, lines, rows);
      if (text !== '') write(text);
      before = lines;
    },
    forget: () => {
      before = null;
    },
    leave: () => write(WRAP_LONG_LINES + SHOW_CURSOR + ORDINARY),
  };
};
