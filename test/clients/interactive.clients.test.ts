import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/system.ts';
import type { ClientKind } from './model/answer.ts';
import { type Seen, seenOf } from './seen.ts';
import { interactive, openStage, type Session, type SessionSpec, type Stage } from './stage.ts';
import type { Terminal } from './terminal.ts';

/** The interactive clients take over an hour with their downloads, so they run only on request. */
const isWanted = process.env.VIGIL_CLIENTS === 'all';

const MINUTE = 60_000;
/** Longer than every limit of `demo` that applies to a session in this situation. */
const WATCHED_MS = 45_000;
const ESCAPE = '\u001B';
const ENTER = '\r';

const kinds: readonly ClientKind[] = ['claude-code', 'codex', 'gemini-cli'];

type Run = { readonly session: Session; readonly seen: Seen; readonly terminal: Terminal };

const permission: Readonly<
  Record<ClientKind, { readonly args: readonly string[]; readonly dialog: RegExp; readonly tool: string }>
> = {
  'claude-code': { args: ['--permission-mode', 'manual'], dialog: /Do you want to proceed\?/, tool: 'Bash' },
  codex: { args: ['--ask-for-approval', 'on-request'], dialog: /Would you like to run/, tool: 'Bash' },
  'gemini-cli': { args: [], dialog: /Allow execution of/, tool: 'run_shell_command' },
};

const promptOf: Readonly<Record<ClientKind, RegExp>> = {
  'claude-code': /❯[^\n]*\n─+/,
  codex: /Ask Codex to do anything/,
  'gemini-cli': /Type your message/,
};

describe.skipIf(!isWanted).concurrent('an interactive client under vigil run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage('interactive', kinds);
  });
  afterAll(() => stage?.stop());

  const run = async (spec: SessionSpec): Promise<Run> => {
    const session = await stage.start(spec);
    if (session.terminal === null) throw new Error('an interactive session has a terminal');
    return { session, seen: seenOf(stage, session.name), terminal: session.terminal };
  };

  /** Waits until Vigil has received reports of the agent for so long that every limit of `demo` would have passed. */
  const watch = async ({ seen, session }: Run, forMs: number): Promise<void> => {
    const last = () => seen.heartbeats().at(-1)?.occurredAt ?? 0;
    await until(`heartbeats of ${session.name}`, async () => last() > 0, 2 * MINUTE);
    const from = last();
    await until(
      `heartbeats of ${session.name} over ${forMs} ms`,
      async () => last() - from >= forMs,
      forMs + 2 * MINUTE,
    );
  };

  /** Asserts that the agent is not judged unhealthy, typed into or ended. */
  const expectUntouched = ({ seen, terminal }: Run): void => {
    expect(seen.reasons()).toEqual([]);
    expect(seen.receipts()).not.toContain('nudge delivered');
    expect(seen.orders()).not.toContain('TERMINATE_AGENT');
    expect(seen.orders()).not.toContain('INTERRUPT_AGENT');
    expect(terminal.screen()).not.toMatch(/REMINDER|Vigil watches/);
    expect(terminal.exitCode()).toBeNull();
  };

  const awaitsInput = async ({ seen, session }: Run): Promise<void> => {
    await until(`awaiting_input of ${session.name}`, async () => seen.exemptions().includes('awaiting_input'), MINUTE);
  };

  describe.each(kinds)('%s', (client) => {
    const asks = permission[client];

    test.each([true, false])('with its hook: %s; asks for permission: waits, and nothing is typed', async (hasHook) => {
      const one = await run(interactive(client, 'needsPermission', { moreArgs: asks.args, hasHook }));
      await one.terminal.shows(asks.dialog, 2 * MINUTE);
      await awaitsInput(one);
      const nudged = await stage.system.vigil(
        'nudge',
        one.session.name,
        '--message',
        'Write a checkpoint in 2 minutes.',
      );
      expect(`${nudged.stdout}${nudged.stderr}`).not.toMatch(/\bdelivered\b/);
      await watch(one, WATCHED_MS);
      expectUntouched(one);
      expect(one.terminal.screen()).toMatch(asks.dialog);
      const file = path.join(one.session.place.project, 'approved.txt');
      expect(existsSync(file)).toBe(false);
      // The person approves.
      one.terminal.type(ENTER);
      await until('the approved command', async () => existsSync(file), MINUTE);
    });

    test('is at its prompt: is left alone, and nothing is typed', async () => {
      const one = await run(interactive(client, 'greets', { prompt: null }));
      await one.terminal.shows(promptOf[client], 2 * MINUTE);
      await watch(one, WATCHED_MS);
      expectUntouched(one);
    });

    test('is at its prompt without a hook: is left alone, and nothing is typed', async () => {
      const one = await run(interactive(client, 'greets', { prompt: null, hasHook: false }));
      await one.terminal.shows(promptOf[client], 2 * MINUTE);
      await watch(one, WATCHED_MS);
      expectUntouched(one);
    });

    test('asks whether to trust the folder: waits, and nothing is typed', async () => {
      const one = await run(interactive(client, 'greets', { openQuestions: ['trust'], prompt: null }));
      await one.terminal.shows(/trust/i, 2 * MINUTE);
      await awaitsInput(one);
      await watch(one, WATCHED_MS);
      expectUntouched(one);
      expect(one.terminal.screen()).toMatch(/trust/i);
    });

    test('gets no answer: is STUCK although its spinner turns, is interrupted, and continues', async () => {
      const one = await run(interactive(client, 'hangsOnce', { skipsPermissions: true }));
      await until('STUCK', async () => one.seen.states().includes('STUCK'), 3 * MINUTE);
      await until('the interrupt', async () => one.seen.orders().includes('INTERRUPT_AGENT'), 2 * MINUTE);
      await one.terminal.shows(/I am back/, 3 * MINUTE);
      expect(one.terminal.exitCode()).toBeNull();
      expect(one.seen.orders()).not.toContain('TERMINATE_AGENT');
    });
  });

  test.each(['claude-code', 'codex'] as const)(
    '%s is at its prompt while a command in the background ends: is left alone, and nothing is typed',
    async (client) => {
      const one = await run(interactive(client, 'backgroundBash', { skipsPermissions: true }));
      await one.terminal.shows(/It runs in the background/, 2 * MINUTE);
      await watch(one, WATCHED_MS);
      expectUntouched(one);
    },
  );

  test('claude-code shows its warning about bypassed permissions: waits, and nothing is typed', async () => {
    const openQuestions = ['bypass'] as const;
    const one = await run(
      interactive('claude-code', 'greets', { openQuestions, prompt: null, skipsPermissions: true }),
    );
    await one.terminal.shows(/Bypass Permissions mode/, 2 * MINUTE);
    await awaitsInput(one);
    await watch(one, WATCHED_MS);
    expectUntouched(one);
    expect(one.terminal.screen()).toMatch(/Bypass Permissions mode/);
  });

  test('a question of claude-code: waits, and nothing is typed', async () => {
    const one = await run(interactive('claude-code', 'asksQuestion', { skipsPermissions: true }));
    await one.terminal.shows(/Which database shall I use/, 2 * MINUTE);
    await awaitsInput(one);
    await watch(one, WATCHED_MS);
    expectUntouched(one);
    expect(one.terminal.screen()).toMatch(/3\. Type something/);
  });

  test('claude-code cannot check an action in auto mode: waits, and nothing is typed', async () => {
    const one = await run(interactive('claude-code', 'needsPermission'));
    await one.terminal.shows(/Auto mode can't check actions/, 2 * MINUTE);
    await awaitsInput(one);
    await watch(one, WATCHED_MS);
    expectUntouched(one);
  });

  test('claude-code is interrupted with Esc during a command: waits for its person', async () => {
    const one = await run(interactive('claude-code', 'sleeps', { skipsPermissions: true }));
    await one.terminal.shows(/seq 600/, 2 * MINUTE);
    one.terminal.type(ESCAPE);
    await one.terminal.shows(/Interrupted/, MINUTE);
    await awaitsInput(one);
    // Bash's own limit of 120 s and the policy's buffer pass.
    await watch(one, 140_000);
    expectUntouched(one);
  });
});
