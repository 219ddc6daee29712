/** Characters of a dialog's text that are reported. */
const longestText = 500;

/** Horizontal rules and the frames around boxes, as clients draw them. */
const frame = /^[\s─━═╌╍▔▁▀▄╭╮╰╯│┃|]+|[\s─━═╌╍▔▁▀▄╭╮╰╯│┃|]+$/gu;

/** The text of a line without the frame of its box; empty: there is none. */
export const unframed = (line: string): string => line.replace(frame, '');

export const isRule = (line: string): boolean => /^\s*[─━═╌▔]{20,}\s*$/u.test(line);

/** Where dialogs name their keys: the last lines with text. */
const lastLines = (lines: readonly string[]): readonly string[] => lines.filter((line) => line.trim() !== '').slice(-4);

/** Clients separate the keys that they offer by these. */
const betweenKeys = /\s*[|·]\s*/u;

/**
 * Whether one of the last lines offers keys: `keys` matches the beginning of the line, or of a part of it after a separator. A sentence
 * that names a key in the output of a command does not begin with it, or follows a mark of that output.
 */
export const offersKeys = (lines: readonly string[], keys: RegExp): boolean =>
  lastLines(lines).some((line) =>
    line
      .trim()
      .split(betweenKeys)
      .some((part) => part.search(keys) === 0),
  );

/** What a dialog asks: the last question before its options, else the first line of text in it. */
export const dialogText = (lines: readonly string[], options: number): string => {
  const question = lines
    .slice(0, options)
    .map(unframed)
    .findLast((line) => line.endsWith('?'));
  const first = lines.map(unframed).find((line) => /\p{L}{2}/u.test(line));
  return (question ?? first ?? '').slice(0, longestText);
};

/** The text of an input line that is folded into several rows. Null: it is empty. */
export const inputText = (rows: readonly string[]): string | null => {
  const text = rows
    .map((row) => row.trim())
    .join(' ')
    .trim();
  return text === '' ? null : text;
};
