import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/system.ts';
import { seenOf } from './seen.ts';
import { interactive, openStage, type Session, type Stage } from './stage.ts';

const MINUTE = 60_000;

/**
 * Real clients whose requests a person answers by `vigil inbox answer`. No key is typed into their terminals. `claude -p`
 * asks no questions: it has no tool AskUserQuestion.
 */
describe('a request of a real client', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage('answers', ['claude-code', 'codex']);
  });
  afterAll(() => stage?.stop());

  /** The tests run one after the other, so there is one request at a time. */
  const waiting = (session: Session): Promise<string> =>
    until(
      `the request of ${session.name} is in the inbox`,
      async () => {
        const { stdout } = await stage.system.vigil('inbox', '--json');
        return /"id": ?"(request\/[^"]+)"/.exec(stdout)?.[1];
      },
      3 * MINUTE,
    );
  const answer = async (item: string, option: string): Promise<void> => {
    const { stdout, stderr } = await stage.system.vigil('inbox', 'answer', item, option, '--why', `answer ${option}`);
    expect(`${stdout}${stderr}`).toMatch(/has answered .*; the hook returns it/);
  };
  /** The texts that have reached the model. */
  const inputsOf = (session: Session): string => (session.requests().at(-1)?.inputs ?? []).join('\n');
  const untilTold = (session: Session, words: RegExp): Promise<unknown> =>
    until(`the model of ${session.name} receives ${words}`, async () => words.test(inputsOf(session)), MINUTE);

  test.each(['allow', 'deny'] as const)('a permission of Codex, and the answer %s', async (option) => {
    const session = await stage.start(
      interactive('codex', 'needsPermission', { policy: 'vigil', moreArgs: ['--ask-for-approval', 'on-request'] }),
    );
    const file = path.join(session.place.project, 'approved.txt');
    const item = await waiting(session);
    expect(existsSync(file)).toBe(false);
    await answer(item, option);
    if (option === 'allow') await until('the allowed command has run', async () => existsSync(file), MINUTE);
    else await untilTold(session, /answer deny/);
    await session.terminal?.shows(/Done\./, MINUTE);
    expect([existsSync(file), session.terminal?.exitCode()]).toEqual([option === 'allow', null]);
    expect(seenOf(stage, session.name).orders()).toEqual([]);
  });

  test('a question of Claude Code at a terminal: its model gets the answer, and its dialog is gone', async () => {
    const session = await stage.start(
      interactive('claude-code', 'asksQuestion', { policy: 'vigil', moreArgs: ['--permission-mode', 'manual'] }),
    );
    await session.terminal?.shows(/Which database shall I use/, 2 * MINUTE);
    await answer(await waiting(session), '2');
    await untilTold(session, /Which database shall I use\?[^\n]*SQLite/);
    await session.terminal?.shows(/Thank you\. Done\./, MINUTE);
    expect(session.terminal?.screen()).not.toMatch(/3\. Type something/);
  });
});
