import type { ScreenMeaning } from '@vigil/adapters/adapter';
import { newSession, observe, type SessionEvent, type SessionState } from '@vigil/adapters/session';
import { describe, expect, test } from 'vitest';
import { noSession } from '../typing/decide.ts';
import { clientNamed, momentsOf, recordings } from './recordings.fixture.ts';
import type { Surface } from './surface.ts';
import { INTERRUPTED_AFTER_MS, limitShown, missedByHooks, missedEvents, screenReport } from './waiting.ts';

const marksOf = async (name: string) => {
  const recording = recordings.find((one) => one.name === name);
  if (recording === undefined) throw new Error(`there is no recording ${name}`);
  const invocation = { headless: false, streamsEvents: false, printsProgress: false };
  const client = { ...clientNamed(recording.client), invocation };
  return (await momentsOf(recording))
    .filter(({ isMark }) => isMark)
    .map(({ what, view, bracketedPaste, meaning }) => {
      const mode = { canonical: false, echo: false, opost: false };
      const surface: Surface = { view, bracketedPaste, mode, client, meaning, steadyMs: INTERRUPTED_AFTER_MS };
      return { what, surface };
    });
};
const openTurn = { turnOpen: true, waitingFor: null };

test('a dialog is a wait, with and without hooks; a prompt is one where no hook reports turns', async () => {
  const [asks, , prompt] = await marksOf('claude-code/permission-bash.cast');
  if (asks === undefined || prompt === undefined) throw new Error('the recording has no marks');
  const waiting = {
    kind: 'permission',
    text: 'Do you want to proceed? touch approved.txt && curl http://127.0.0.1:1/',
  };
  for (const session of [noSession, openTurn])
    expect(screenReport(asks.surface, session)).toEqual({ activity: 'awaiting_input', waitingFor: waiting });
  expect(screenReport(prompt.surface, noSession).waitingFor).toEqual({ kind: 'prompt', text: null });
  expect(screenReport(prompt.surface, { turnOpen: false, waitingFor: null }).activity).toBeNull();
});

test.each([
  'claude-code/bash-interrupted.cast',
  'claude-code/stall.cast',
  'claude-code/permission-write.cast',
  'codex/command-interrupted.cast',
  'codex/stall.cast',
  'gemini-cli/permission-write.cast',
])('%s: after Esc the turn is over, which no hook reports; before, it is not', async (name) => {
  const marks = await marksOf(name);
  const missed = marks.map(({ what, surface }) => [what.startsWith('after Esc'), missedByHooks(surface, openTurn)]);
  expect(missed).toEqual(missed.map(([isOver]) => [isOver, isOver ? 'turn_interrupted' : null]));
  const last = marks.at(-1)?.surface;
  if (last === undefined) throw new Error('the recording has no marks');
  expect(missedByHooks({ ...last, steadyMs: INTERRUPTED_AFTER_MS - 1 }, openTurn)).toBeNull();
  expect(missedByHooks(last, { turnOpen: false, waitingFor: null })).toBeNull();
});

test('a permission that was given ends the wait while its call still runs', async () => {
  const [busy] = await marksOf('claude-code/bash-interrupted.cast');
  if (busy === undefined) throw new Error('the recording has no marks');
  expect(missedByHooks(busy.surface, { turnOpen: true, waitingFor: 'permission' })).toBe('wait_ended');
  expect(missedByHooks(busy.surface, openTurn)).toBeNull();
});

describe('a permission for a sub-agent', () => {
  const asked = 10_000;
  const session = (wait: 'permission' | null): SessionState => {
    const events: readonly SessionEvent[] = [
      { kind: 'turn_started', at: 1000, agent: null },
      { kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2000, agent: null },
      { kind: 'subagent_started', id: 'a2', type: 'Explore', at: 2000, agent: null },
    ];
    const waiting = { kind: 'permission', text: 'Bash', since: asked } as const;
    const waits: readonly SessionEvent[] =
      wait === null ? [] : [{ kind: 'wait_started', waiting, call: null, at: asked, agent: 'a1' }];
    return [...events, ...waits].reduce((so, event) => observe(so, event).session, newSession);
  };
  const shown = async (meaning: ScreenMeaning, steadyMs: number): Promise<Surface> => {
    const [busy] = await marksOf('claude-code/bash-interrupted.cast');
    if (busy === undefined) throw new Error('the recording has no marks');
    return { ...busy.surface, meaning, steadyMs };
  };
  const working = { kind: 'working' } as const;
  const prompt = { kind: 'prompt', pending: null, turnOver: false } as const;
  const retrying = { kind: 'retrying', text: 'again', limit: null } as const;

  test.each([working, prompt, retrying])('that was given ends its wait once $kind lasts for 5 s', async (meaning) => {
    const now = asked + 60_000;
    expect(missedEvents(await shown(meaning, INTERRUPTED_AFTER_MS), session('permission'), now)).toEqual([
      { kind: 'wait_ended', at: now, agent: 'a1' },
    ]);
    expect(missedEvents(await shown(meaning, INTERRUPTED_AFTER_MS - 1), session('permission'), now)).toEqual([]);
    expect(missedEvents(await shown(meaning, INTERRUPTED_AFTER_MS), session(null), now)).toEqual([]);
  });

  test('is awaited while its dialog stands, while the screen is not understood, and while it may not have opened yet', async () => {
    const state = session('permission');
    const dialog = { kind: 'dialog', wait: 'permission', text: 'Do you want to proceed?' } as const;
    for (const meaning of [dialog, { kind: 'unknown' }] as const)
      expect(missedEvents(await shown(meaning, 3_600_000), state, asked + 3_600_000)).toEqual([]);
    const longBefore = await shown(working, 60_000);
    expect(missedEvents(longBefore, state, asked + INTERRUPTED_AFTER_MS - 1)).toEqual([]);
    expect(missedEvents(longBefore, state, asked + INTERRUPTED_AFTER_MS)).toHaveLength(1);
  });

  test('that was given lets the sub-agent and its parent work', async () => {
    const now = asked + 60_000;
    const [event] = missedEvents(await shown(working, INTERRUPTED_AFTER_MS), session('permission'), now);
    if (event === undefined) throw new Error('the screen shows nothing');
    const { reports } = observe(session('permission'), event);
    expect(reports.map(({ agent, fields }) => [agent, fields.activity])).toEqual([
      ['a1', 'working'],
      [null, 'working'],
    ]);
  });
});

test('a retry line that names a limit is a limit until the next try; one that names none is not', async () => {
  const [first, third] = await marksOf('claude-code/retries.cast');
  const [reconnecting] = await marksOf('codex/retries.cast');
  if (first === undefined || third === undefined || reconnecting === undefined)
    throw new Error('the recording has no marks');
  const at = ({ surface }: typeof third, steadyMs: number) => limitShown({ ...surface, steadyMs }, openTurn, 100_000);
  expect(at(first, 0)).toBeNull();
  expect(at(third, 1999)).toEqual({ retryAt: 100_001 });
  expect(at(third, 2000)).toBeNull();
  expect(at(reconnecting, 60_000)).toEqual({ retryAt: null });
  expect(limitShown(third.surface, { turnOpen: false, waitingFor: null }, 0)).toBeNull();
  // A client that hangs shows the same forever.
  const meaning = { kind: 'retrying', text: 'reconnecting', limit: { retryInMs: null } } as const;
  const shown = (steadyMs: number) => limitShown({ ...third.surface, meaning, steadyMs }, openTurn, 0);
  expect(shown(119_999)).toEqual({ retryAt: null });
  expect(shown(120_000)).toBeNull();
});
