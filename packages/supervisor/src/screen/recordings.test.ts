import type { ScreenMeaning } from '@vigil/adapters/adapter';
import { expect, test } from 'vitest';
import { castsOf, momentsOf, recordings } from './recordings.fixture.ts';

/** Codex draws the same screen when an answer stops in the middle as at its prompt; `turnOver` is false there. */
const showsNoTurn = (what: string, meaning: ScreenMeaning): boolean =>
  what === 'the answer stopped in the middle' && meaning.kind === 'prompt' && !meaning.turnOver;

const means = (situation: string | null, what: string, meaning: ScreenMeaning): boolean => {
  switch (situation) {
    case 'dialog':
      return meaning.kind === 'dialog' && meaning.text !== '';
    case 'prompt':
      return meaning.kind === 'prompt';
    case 'busy':
      return what.startsWith('API error')
        ? meaning.kind === 'retrying'
        : meaning.kind === 'working' || showsNoTurn(what, meaning);
    default:
      return meaning.kind !== 'dialog';
  }
};

test.each(recordings)('$name: at each mark the screen shows what the recording names', async (recording) => {
  const marks = (await momentsOf(recording)).filter(({ isMark }) => isMark);
  expect(marks.length).toBeGreaterThan(0);
  for (const { situation, what, meaning } of marks)
    expect([what, meaning, means(situation, what, meaning)]).toEqual([what, meaning, true]);
});

test('a client without recordings is reported with the missing folder and how to make them', () => {
  expect(() => castsOf('example')).toThrow(
    /no test\/clients\/recordings\/example\/\*\.cast: .*make\/example\.ts.*node test\/clients\/recordings\/make\/make\.ts example$/,
  );
});

test('what a dialog asks, and which kind of dialog it is, is read from the screen', async () => {
  const asked = new Map<string, string>();
  for (const recording of recordings)
    for (const { isMark, meaning, what } of await momentsOf(recording)) {
      if (!isMark || meaning.kind !== 'dialog') continue;
      asked.set(recording.name, `${meaning.wait}: ${meaning.text}`);
      asked.set(`${recording.name} ${what}`, `${meaning.wait}: ${meaning.text}`);
    }
  expect(Object.fromEntries(asked)).toMatchObject({
    'claude-code/permission-bash.cast':
      'permission: Do you want to proceed? touch approved.txt && curl http://127.0.0.1:1/',
    'claude-code/permission-edit.cast': 'permission: Do you want to make this edit to a.txt?',
    'claude-code/auto-mode-check.cast': "permission: Auto mode can't check actions in this session",
    'claude-code/question.cast': 'question: Which database shall I use?',
    'claude-code/plan.cast': expect.stringMatching(/^plan: .*Would you like to proceed\?$/),
    'claude-code/login.cast': 'dialog: Login Select login method:',
    'claude-code/first-start.cast theme':
      "dialog: Let's get started. Choose the text style that looks best with your terminal",
    'claude-code/first-start.cast security notes': 'dialog: Security notes: Press Enter to continue',
    'claude-code/first-start.cast trust':
      'dialog: Quick safety check: Is this a project you created or one you trust? /home/dev/project',
    'codex/approval.cast':
      'permission: Would you like to run the following command? $ touch approved.txt && curl http://127.0.0.1:1/',
    'codex/trust.cast': expect.stringMatching(/^dialog: Trust this folder\?/),
    'gemini-cli/permission-shell.cast':
      'permission: Allow execution of [Shell]? Shell touch approved.txt && curl http://127.0.0.1:1/',
    'gemini-cli/permission-write.cast': 'permission: Apply this change? WriteFile Writing to written.txt',
  });
});

test('a hint in the input line does not count as text in it, a pasted text does', async () => {
  const pending = async (name: string) => {
    const recording = recordings.find((one) => one.name === name);
    if (recording === undefined) throw new Error(`there is no recording ${name}`);
    return (await momentsOf(recording))
      .filter(({ isMark }) => isMark)
      .map(({ meaning }) => (meaning.kind === 'prompt' ? meaning.pending : meaning.kind));
  };
  const pasted = 'REMINDER: You have been working for 2 minutes, 1 y n 2 3.';
  const hangs = [null, pasted, 'working', 'working', 'working', 'a second text'];
  expect(await pending('claude-code/invalid-request.cast')).toEqual([null]);
  for (const client of ['claude-code', 'codex', 'gemini-cli'])
    expect(await pending(`${client}/prompt-and-hang.cast`)).toEqual(hangs);
});

test.each(recordings)('$name: while a turn is open the screen does not show that it is over', async (recording) => {
  const moments = await momentsOf(recording);
  const open = moments.filter(({ situation, isMark }) => situation === 'busy' && isMark);
  for (const { what, meaning } of open)
    expect([what, meaning.kind === 'prompt' && meaning.turnOver]).toEqual([what, false]);
});
