import { expect, test } from 'vitest';
import type { ScreenMeaning, ScreenView } from '../adapter.ts';
import { claudeCodeScreen } from '../claude-code/screen.ts';
import { codexScreen } from '../codex/screen.ts';
import { geminiCliScreen } from '../gemini-cli/screen.ts';

const seen = (
  screen: (view: ScreenView) => ScreenMeaning,
  lines: readonly string[],
  row: number,
  column: number,
): ScreenMeaning => screen({ lines, withoutFaint: lines, cursor: { row, column }, alternate: true });

const codexInput = ['', '› ', '', '  gpt-5.1-codex default · /home/dev/project', '  ← for agents · ? for shortcuts'];

test('output that names the key of a dialog does not count as one while Codex works', () => {
  for (const output of [
    '  └ Press ENTER to continue...',
    '    Press Enter to continue',
    '  enter to select  esc to exit',
  ]) {
    const lines = ['› install it', '', '• Ran ./install.sh', output, '', '• Working (12s • esc to interrupt)'];
    expect(seen(codexScreen, [...lines, ...codexInput], 7, 2)).toEqual({ kind: 'working' });
    expect(seen(codexScreen, [...lines, ...codexInput], 0, 0)).toEqual({ kind: 'unknown' });
    expect(seen(codexScreen, lines, 5, 0)).toEqual({ kind: 'unknown' });
  }
});

test('an answer of Codex that ends with the key of a dialog does not count as one above the input line', () => {
  const lines = ['› install it', '', '• Run ./install.sh and, when it asks, press Enter to continue.'];
  expect(seen(codexScreen, [...lines, ...codexInput], 4, 2)).toMatchObject({ kind: 'prompt', pending: null });
  expect(seen(codexScreen, [...lines, ...codexInput], 0, 0)).toEqual({ kind: 'unknown' });
  expect(seen(codexScreen, lines, 0, 0)).toEqual({ kind: 'unknown' });
});

const approval = [
  '› should I allow it?',
  '',
  '• Would you like to run more?',
  '',
  '  Would you like to run the following command?',
  '',
  '  $ touch a.txt',
  '',
  '› 1. Yes, proceed (y)',
  '  2. No, and tell Codex what to do differently (esc)',
  '',
  '  Press enter to confirm or esc to cancel',
];

test('a dialog of Codex counts at any position of the cursor', () => {
  const dialog = {
    kind: 'dialog',
    wait: 'permission',
    text: 'Would you like to run the following command? $ touch a.txt',
  };
  for (const [row] of approval.entries())
    for (const column of [0, 2, 40]) expect(seen(codexScreen, approval, row, column)).toEqual(dialog);
});

test('a question of Codex with a line for notes is a dialog while the cursor is in that line', () => {
  const lines = ['  Which database?', '', '› 1. Postgres', '  2. SQLite', '', '› Add notes', ''];
  const keys = '  tab to clear notes | enter to submit answer | esc to interrupt';
  expect(seen(codexScreen, [...lines, keys], 5, 2)).toMatchObject({ kind: 'dialog' });
  expect(seen(codexScreen, [...lines, keys], 7, 0)).toMatchObject({ kind: 'dialog' });
});

const rule = '─'.repeat(40);

test('output that names a key is not a dialog of Claude Code while its input line is not visible', () => {
  const output = ['● Bash(./install.sh)', '  ⎿  Press Enter to continue, or Esc to cancel', ''];
  expect(seen(claudeCodeScreen, output, 2, 0)).toEqual({ kind: 'unknown' });
  expect(seen(claudeCodeScreen, ['     Esc to cancel', '', '✽ Working…', ''], 3, 0)).toEqual({ kind: 'unknown' });
  const input = [rule, '❯ ', rule, '  ? for shortcuts'];
  expect(seen(claudeCodeScreen, [...output, ...input], 4, 2)).toMatchObject({ kind: 'prompt' });
  expect(seen(claudeCodeScreen, [rule, ' Proceed?', '  1. Yes', ' Esc to cancel · Tab to amend'], 0, 0)).toMatchObject({
    kind: 'dialog',
  });
});

test('Claude Code works while its spinner is above its input line, with any number of words in the spinner', () => {
  const input = ['', rule, '❯ ', rule, '  ? for shortcuts'];
  for (const spinner of ['✻ Working…', '✶ Compacting conversation… (12s · esc to interrupt)', '· Reading the tests…'])
    expect(seen(claudeCodeScreen, ['⏺ I start.', '', spinner, ...input], 5, 2)).toEqual({ kind: 'working' });
  for (const line of ['✻ Worked for 12s', '⏺ Let me see what is left…', '✻ It took long… and it is done.'])
    expect(seen(claudeCodeScreen, ['⏺ I start.', '', line, ...input], 5, 2)).toMatchObject({ kind: 'prompt' });
});

test('output that looks like a spinner or a retry does not hide the prompt of Claude Code', () => {
  const input = ['', rule, '❯ ', rule, '  ? for shortcuts'];
  for (const output of ['· Resolving packages…', '* Done… 3 files', '* 429 Too Many Requests, retrying in 5s']) {
    const lines = ['⏺ Bash(./install.sh)', `  ⎿  ${output}`, `     ${output}`, '', '⏺ It is installed.'];
    expect(seen(claudeCodeScreen, [...lines, ...input], 7, 2)).toMatchObject({ kind: 'prompt', turnOver: true });
  }
});

test('a list in an answer of Gemini CLI is not a dialog while its input line is not visible', () => {
  expect(seen(geminiCliScreen, ['✦ You can:', '  ● 1. Wait', '    2. Go on', ''], 3, 0)).toEqual({ kind: 'unknown' });
  expect(seen(geminiCliScreen, ['│ Go on?   │', '│ ● 1. Yes │', '│   2. No  │', ''], 3, 0)).toMatchObject({
    kind: 'dialog',
    text: 'Go on?',
  });
});

test('an input line of Gemini CLI in shell mode is not an empty prompt, because a text would be a command', () => {
  const screen = (mark: string) => [
    '▀'.repeat(40),
    ` ${mark}  `,
    '▄'.repeat(40),
    ' workspace (/directory)   sandbox   /model',
    ' ~/project   no sandbox   gemini-2.5-pro',
  ];
  expect(seen(geminiCliScreen, screen('>'), 1, 3)).toMatchObject({ kind: 'prompt', pending: null });
  expect(seen(geminiCliScreen, screen('*'), 1, 3)).toMatchObject({ kind: 'prompt', pending: null });
  expect(seen(geminiCliScreen, screen('!'), 1, 3)).toMatchObject({ kind: 'prompt', pending: '!' });
});
