import type { ScreenMeaning, ScreenView } from '../adapter.ts';
import { asPaste, dialogText, inputText, retrying, unframed } from '../shared/screen.ts';

const OPTION = /^[●○]?\s*\d+\.\s/u;
/** The chosen option of a dialog, inside its box. */
const SELECTED = /^\s*│\s*●\s*\d+\.\s/u;
const PERMISSION = /^(allow .*|apply this change|do you want to .*)\?$/i;
const WORKING = /\besc to cancel\b/i;
const RETRIES = /\b(retrying|attempt \d+\/\d+|trying to reach)\b/i;
const PLACEHOLDER = /^Type your message or @path\/to\/file/;

const dialogOf = (texts: readonly string[]): ScreenMeaning => {
  const options = texts.findIndex((text) => OPTION.test(text));
  const subject =
    texts
      .findLast((text) => /^\? \S/.test(text))
      ?.replace(/^\? /, '')
      .replace(/\s+/g, ' ') ?? null;
  const wait = texts.some((text) => PERMISSION.test(text)) ? 'permission' : 'dialog';
  return { kind: 'dialog', wait, text: dialogText(texts, options, subject) };
};

/** The rows of the input line, above the rows that name the folder and the model; null if the cursor is not in one. */
const inputRows = ({ lines, cursor }: ScreenView): { readonly first: number; readonly end: number } | null => {
  const first = lines.findLastIndex((line, row) => row <= cursor.row && /^ [>!*](\s|$)/.test(line));
  const end = lines.findIndex((line, row) => row > cursor.row && /^\s*workspace\b.*\/model\b/.test(line));
  if (first < 0 || end < 0 || cursor.column < 3) return null;
  return lines.slice(first + 1, end).every((line) => /^ {3}|^[\s▀▄]*$/u.test(line)) ? { first, end } : null;
};

/** Reads the screen of Gemini CLI. */
export const geminiCliScreen = (view: ScreenView): ScreenMeaning => {
  const { lines, withoutFaint } = view;
  const input = inputRows(view);
  if (input === null)
    return lines.some((line) => SELECTED.test(line)) ? dialogOf(lines.map(unframed)) : { kind: 'unknown' };
  const above = lines.slice(0, input.first).slice(-8);
  const busy = above.findLast((line) => WORKING.test(line));
  if (busy !== undefined) return RETRIES.test(busy) ? retrying(busy) : { kind: 'working' };
  // In its shell mode (!) a text would be a command, so the mark is part of the content of the input line.
  const rows = withoutFaint.slice(input.first, input.end).map((row) => row.replace(/^ [>*]|[▀▄]+/gu, ''));
  const text = inputText(rows);
  return { kind: 'prompt', pending: text !== null && PLACEHOLDER.test(text) ? null : text, turnOver: true };
};

export const typedIntoGeminiCli = asPaste(/^\[Pasted Text: \d+ (lines|chars)\]$/i);
