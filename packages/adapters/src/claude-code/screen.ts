import type { ScreenMeaning, ScreenView } from '../adapter.ts';
import { asPaste, dialogText, inputText, isRule, offersKeys, retrying } from '../shared/screen.ts';

type Dialog = Extract<ScreenMeaning, { kind: 'dialog' }>;

/** The texts at or near the end of a dialog. */
const DIALOG_KEYS =
  /enter to (confirm|select|continue|stay|submit)|esc to (cancel|close|exit)|press enter to continue|tab to amend|shift\+tab to approve|syntax theme:/i;
const SELECTED = /^\s*❯\s+(?:\d+\.\s|✔|\S)/u;
/** The spinner: one or more words, possibly followed by time and tokens. Similar output of commands is indented. */
const SPINNER = /^(?:[·✢✳✶✻✽*]\s+\S+…|[·✢✳✶✻✽]\s+\S[^…]{0,80}…(?:\s+\(.*)?\s*$)/u;
const RETRIES_ABOVE = /^[·✢✳✶✻✽*]\s+(.*\bretrying in .*)$/iu;
/** The output of `claude -p` while it retries. */
const RETRY_LINE = /^.*\bretrying in .*\battempt \d+.*$/i;

const kinds: readonly (readonly [Dialog['wait'], RegExp])[] = [
  ['plan', /ready to code\?|written up a plan/i],
  [
    'permission',
    /do you want to (proceed|create|make|allow|overwrite|run|use this tool)|requires? (your )?approval|can't check actions/i,
  ],
  ['question', /enter to select · .*to navigate/i],
];

/** The command in a box of dashed rules, or the folder: the question does not repeat them. */
const subjectOf = (within: readonly string[]): string | null => {
  const texts = within.map((line) => line.trim()).filter((line) => line !== '');
  const heading = texts.find((line) => !isRule(line)) ?? '';
  if (/^Accessing workspace:$/.test(heading)) return texts[texts.indexOf(heading) + 1] ?? null;
  if (!/\bcommand$/.test(heading)) return null;
  const [from = -1, to = -1] = texts.flatMap((line, row) => (/^╌+$/u.test(line) ? [row] : []));
  return from < 0 || to < 0 ? null : texts.slice(from + 1, to).join(' ');
};

const dialogOf = ({ lines, cursor }: ScreenView): Dialog => {
  const shown = lines.filter((line) => line.trim() !== '');
  const from = lines.findLastIndex((line, row) => row < cursor.row && isRule(line) && !/╌/.test(line));
  const within = lines.slice(from + 1);
  const wait = kinds.find(([, pattern]) => shown.some((line) => pattern.test(line)))?.[0] ?? 'dialog';
  return { kind: 'dialog', wait, text: dialogText(within, Math.max(0, cursor.row - from - 1), subjectOf(within)) };
};

/** The rows of the input line, which is between two rules and contains the cursor; null without one. */
const inputRows = ({ lines, cursor }: ScreenView): { readonly first: number; readonly end: number } | null => {
  const first = lines.findLastIndex((line, row) => row <= cursor.row && /^❯/.test(line));
  const end = lines.findIndex((line, row) => row > cursor.row && isRule(line));
  if (first < 1 || end < 0 || !isRule(lines[first - 1] ?? '')) return null;
  return lines.slice(first + 1, end).every((line) => /^ {2}|^\s*$/.test(line)) ? { first, end } : null;
};

/** Reads the screen of Claude Code. */
export const claudeCodeScreen = (view: ScreenView): ScreenMeaning => {
  const { lines, withoutFaint, cursor } = view;
  const input = inputRows(view);
  if (input === null) {
    const below = lines.slice(lines.findLastIndex((line) => SPINNER.test(line)) + 1);
    const isDialog = offersKeys(below, DIALOG_KEYS) || SELECTED.test(lines[cursor.row] ?? '');
    if (isDialog) return dialogOf(view);
    const last = lines.findLast((line) => line.trim() !== '') ?? '';
    return RETRY_LINE.test(last) ? retrying(last) : { kind: 'unknown' };
  }
  const footer = lines.slice(input.end + 1);
  if (footer.some((line) => /\b(enter|esc) to (confirm|select|continue|cancel|close)/i.test(line)))
    return dialogOf(view);
  const above = lines.slice(0, input.first);
  const retry = above.map((line) => RETRIES_ABOVE.exec(line)?.[1]).findLast((text) => text !== undefined);
  if (retry !== undefined) return retrying(retry);
  if (above.some((line) => SPINNER.test(line)) || footer.some((line) => /esc to interrupt/i.test(line)))
    return { kind: 'working' };
  const rows = withoutFaint.slice(input.first, input.end).map((row) => row.replace(/^❯/, ''));
  return { kind: 'prompt', pending: inputText(rows), turnOver: true };
};

export const typedIntoClaudeCode = asPaste(/^\[Pasted text #\d+[^\]]*\]$/);
