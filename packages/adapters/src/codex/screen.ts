import type { ScreenMeaning, ScreenView } from '../adapter.ts';
import { asPaste, dialogText, inputText, offersKeys, retrying } from '../shared/screen.ts';

const DIALOG_KEYS = /\b(press )?enter\s+(to\s+)?(confirm|submit|select|continue|resume)\b/i;
const OPTION = /^\s*[›>]?\s*\d+\.\s/u;
const PERMISSION = /would you like to (run|make|grant|allow)|\ballow .*\?/i;
const WORKING = /^[•◦] .*\besc to interrupt\b/u;
const RETRIES = /^[•◦] (Reconnecting\b.*|.*\bretrying\b.*)$/iu;
const BULLET = /^[•◦] /u;
/** Texts above the prompt after a turn that ended without an answer. */
const TURN_END = /^■ |^ {2}Worked for \d/u;

/** The first characters of lines with the agent's answers and calls. The text of a dialog is indented. */
const HISTORY = /^[•◦■✔✗] /u;
/** The input line, or a sent text. A dialog marks an option with the same sign and a number. */
const INPUT_LINE = /^›(?!\s*\d+\.\s)(\s|$)/u;

const dialogOf = (view: ScreenView): ScreenMeaning => {
  const lines = view.lines.slice(view.lines.findLastIndex((line) => HISTORY.test(line)) + 1);
  const options = lines.findIndex((line) => OPTION.test(line));
  const asked = lines.find((line) => PERMISSION.test(line));
  const question = asked ?? lines.find((line) => /^\s*Trust this folder\?/.test(line));
  const command = lines.slice(0, options < 0 ? lines.length : options).findLast((line) => /^\s*\$ /.test(line));
  const asks = asked === undefined || command === undefined ? question : `${question} ${command.trim()}`;
  const text = asks?.trim() ?? dialogText(lines, options < 0 ? lines.length : options, null);
  return { kind: 'dialog', wait: asked === undefined ? 'dialog' : 'permission', text };
};

/** The rows of the input line; null if the cursor is not in one. */
const inputRows = ({ lines, cursor }: ScreenView): { readonly first: number; readonly end: number } | null => {
  const first = lines.findLastIndex((line, row) => row <= cursor.row && /^›(\s|$)/u.test(line));
  if (first < 0 || cursor.column < 2) return null;
  const length = lines.slice(first + 1).findIndex((line) => line.trim() === '');
  const end = length < 0 ? lines.length : first + 1 + length;
  return cursor.row < end ? { first, end } : null;
};

/** A dialog replaces the spinner and the input line. Its keys are below an input line that is still drawn above it. */
const hasDialog = ({ lines }: ScreenView, input: { readonly first: number } | null): boolean => {
  if (input !== null) return lines.slice(input.first + 1).some((line) => DIALOG_KEYS.test(line));
  const last = lines.findLastIndex((line) => WORKING.test(line) || INPUT_LINE.test(line));
  return offersKeys(lines.slice(last + 1), DIALOG_KEYS);
};

/** Reads the screen of Codex. */
export const codexScreen = (view: ScreenView): ScreenMeaning => {
  const { lines, withoutFaint } = view;
  const input = inputRows(view);
  if (hasDialog(view, input)) return dialogOf(view);
  if (input === null) return { kind: 'unknown' };
  const above = lines.slice(0, input.first);
  const retry = above.findLastIndex((line) => RETRIES.test(line));
  // The reason is below the line, and folded if it is long.
  if (retry >= 0) return retrying((above[retry] ?? '').replace(BULLET, ''), above.slice(retry + 1).join(' '));
  if (above.some((line) => WORKING.test(line))) return { kind: 'working' };
  const rows = withoutFaint.slice(input.first, input.end).map((row) => row.replace(/^›/u, ''));
  const last = above.findLast((line) => line.trim() !== '' && !/background terminal running/.test(line)) ?? '';
  return { kind: 'prompt', pending: inputText(rows), turnOver: TURN_END.test(last) };
};

export const typedIntoCodex = asPaste(/^\[Pasted Content \d+ chars\]$/);
