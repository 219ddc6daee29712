import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holds, until } from '../support/system.ts';
import type { ClientKind } from './model/answer.ts';
import { type Seen, seenOf } from './seen.ts';
import { headless, openStage, type Session, type SessionSpec, type Stage } from './stage.ts';

/** Vigil must not act on a working session. */
const LEFT_ALONE = { orders: [], stuck: [], alerts: [] };

const treatment = (seen: Seen): object => ({ orders: seen.orders(), stuck: seen.reasons(), alerts: seen.alerts() });

const MINUTE = 60_000;
const headlessClients: readonly ClientKind[] = [
  ...(['claude-code', 'codex'] as const),
  ...(process.env.VIGIL_CLIENTS === 'all' ? (['gemini-cli'] as const) : []),
];

/** The options with which a client prints its events. */
const printsEvents: Readonly<Record<ClientKind, readonly string[]>> = {
  'claude-code': ['--output-format', 'stream-json', '--verbose'],
  codex: ['--json'],
  'gemini-cli': ['--output-format', 'stream-json'],
};

/** Settings under which a client refuses `rm`. Codex has a rule for it in any session of the suite. */
const refusing: Readonly<Record<'claude-code' | 'codex', Partial<SessionSpec>>> = {
  'claude-code': {
    skipsPermissions: false,
    moreArgs: ['--permission-mode', 'manual', '--allowedTools', 'Write', 'Bash(sleep:*)'],
  },
  codex: {},
};

type Run = { readonly session: Session; readonly seen: Seen };

describe.concurrent('a headless client under vigil run', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage('headless', headlessClients);
  });
  afterAll(() => stage?.stop());

  const run = async (spec: SessionSpec): Promise<Run> => {
    const session = await stage.start(spec);
    return { session, seen: seenOf(stage, session.name) };
  };

  /** Waits until `vigil run` has ended and its end has been judged; returns its exit code. */
  const finish = async ({ session, seen }: Run, limitMs: number): Promise<number> => {
    let code: number | undefined;
    void session.ended.then((value) => {
      code = value;
    });
    await until(`the end of ${session.name}`, async () => code !== undefined, limitMs);
    await until(`the judgement of the end of ${session.name}`, async () => seen.states().at(-1) === 'TERMINATED');
    return code ?? -1;
  };

  /** The reminders to the model in the last request, without additions of the client. */
  const reminders = ({ session }: Run): readonly string[] =>
    session.requests().flatMap(({ inputs }) => inputs.filter((text) => /REMINDER|Vigil watches/.test(text)));

  describe.each(headlessClients)('%s', (client) => {
    test('works: is left alone, each call ends, its tokens are known', async () => {
      const one = await run(headless(client, 'works'));
      expect(await finish(one, 3 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
      expect(one.seen.endReason()).toBe('finished');
      const payloads = one.seen.heartbeats().map(({ payload }) => payload);
      const calls = payloads.flatMap(({ tool_calls }) => tool_calls);
      const started = new Set(calls.map(({ call_id }) => call_id));
      const ended = new Set(calls.filter(({ ended_at }) => ended_at !== null).map(({ call_id }) => call_id));
      expect(started.size).toBe(5);
      expect(ended).toEqual(started);
      expect(Math.max(...payloads.map(({ token_count }) => token_count ?? 0))).toBeGreaterThan(1000);
      expect(one.session.processes()).toEqual([]);
    });

    test('prints its events, without the hook: its calls and tokens are known, and its lines come out as they are', async () => {
      const one = await run(headless(client, 'works', { hasHook: false, moreArgs: printsEvents[client] }));
      expect(await finish(one, 3 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
      const payloads = one.seen.heartbeats().map(({ payload }) => payload);
      const calls = payloads.flatMap(({ tool_calls }) => tool_calls);
      const ended = new Set(calls.filter(({ ended_at }) => ended_at !== null).map(({ call_id }) => call_id));
      expect(ended.size).toBe(5);
      expect(new Set(calls.map(({ call_id }) => call_id))).toEqual(ended);
      expect(payloads.at(-1)?.token_count).toBeGreaterThan(1000);
      expect(one.session.output()).not.toContain('\r');
      const lines = one.session.output().split('\n');
      const events = lines.filter((line) => line.startsWith('{')).map((line): unknown => JSON.parse(line));
      expect(events.length).toBeGreaterThan(10);
    });

    test('gets no answer: is interrupted, resumed once with the reminder, and finishes', async () => {
      const one = await run(headless(client, 'hangsOnce'));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(one.seen.orders()).toEqual(expect.arrayContaining(['INTERRUPT_AGENT', 'RESUME_SESSION']));
      expect(one.seen.orders()).not.toContain('TERMINATE_AGENT');
      const last = one.session.requests().at(-1);
      expect(last?.inputs.join('\n')).toContain('step one');
      expect(reminders(one).length).toBeGreaterThan(0);
      expect(one.session.requests().filter(({ turn, isMain }) => isMain && turn === 0)).toHaveLength(1);
      expect(one.session.processes()).toEqual([]);
    });

    test('gets half an answer: is interrupted, resumed once, and finishes', async () => {
      const one = await run(headless(client, 'stallsOnce'));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(one.seen.orders()).toEqual(expect.arrayContaining(['INTERRUPT_AGENT', 'RESUME_SESSION']));
      expect(one.session.processes()).toEqual([]);
    });

    test('never gets an answer: is ended without a person, and is not HEALTHY until then', async () => {
      const one = await run(headless(client, 'hangsAfterStep'));
      await finish(one, 5 * MINUTE);
      expect(one.seen.orders()).toContain('TERMINATE_AGENT');
      const states = one.seen.states();
      // It may have been HEALTHY between the two, because it was resumed and hung again.
      expect(states.slice(states.lastIndexOf('STUCK'))).not.toContain('HEALTHY');
      await holds(() => expect(one.session.processes()).toEqual([]), MINUTE);
    });

    test('gets HTTP 400: ends as crashed', async () => {
      const one = await run(headless(client, 'invalidRequest'));
      expect(await finish(one, 3 * MINUTE)).toBe(1);
      expect(one.seen.endReason()).toBe('crashed');
    });

    test('meets HTTP 529: is left alone while it retries, and finishes', async () => {
      const one = await run(headless(client, 'overloaded', { policy: 'vigil' }));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
    });

    test('runs a long command with its own deadline: is left alone', async () => {
      const one = await run(headless(client, 'longBash'));
      expect(await finish(one, 6 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
    });

    test('is killed: ends as crashed, and no process is left', async () => {
      const one = await run(headless(client, 'crashes'));
      expect(await finish(one, 3 * MINUTE)).not.toBe(0);
      expect(one.seen.endReason()).toBe('crashed');
      await holds(() => expect(one.session.processes()).toEqual([]), MINUTE);
    });

    test('asks in its last text: ends as finished', async () => {
      const one = await run(headless(client, 'asksInText'));
      expect(await finish(one, 3 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
    });
  });

  // Gemini CLI ends a loop itself, before the fifth call.
  describe.each(['claude-code', 'codex'] as const)('%s', (client) => {
    test('repeats a failing command: is STUCK when the fifth has ended, and the reminder reaches it', async () => {
      const one = await run(headless(client, 'loopsUntilReminded', { policy: 'vigil', thinkMs: 3000 }));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(one.seen.states().filter((state) => state === 'STUCK')).toHaveLength(1);
      const stuckAt = one.seen.changedAt('STUCK');
      // The request that carries the result of the fifth call is the sixth.
      expect(one.session.requests().filter(({ atMs }) => atMs <= stuckAt).length).toBeLessThanOrEqual(6);
      expect(one.seen.receipts()).toContain('nudge delivered');
      expect(reminders(one).length).toBeGreaterThan(0);
      // It states the finding, and not the age of the session.
      expect(reminders(one).at(-1)).toMatch(/Bash|shell|exec_command|ls \/nonexistent/);
    });

    test('repeats a failing command, without the hook: is STUCK when the fifth has ended', async () => {
      const more = { hasHook: false, moreArgs: printsEvents[client], policy: 'vigil', thinkMs: 3000 } as const;
      const one = await run(headless(client, 'loopsUntilReminded', more));
      await until('the loop is found', async () => one.seen.states().includes('STUCK'), 3 * MINUTE);
      const stuckAt = one.seen.changedAt('STUCK');
      expect(one.session.requests().filter(({ atMs }) => atMs <= stuckAt).length).toBeLessThanOrEqual(6);
      await until('the reminder is answered', async () => one.seen.receipts().includes('nudge failed'), MINUTE);
      expect(reminders(one)).toEqual([]);
    });

    test('has a call refused by its permissions, then works: is left alone', async () => {
      const one = await run(headless(client, 'refusedCall', refusing[client]));
      expect(await finish(one, 8 * MINUTE)).toBe(0);
      // The hook of Claude Code opens a request for the permission first, and no person answers it.
      const alerts = client === 'claude-code' ? ['awaiting_input'] : [];
      expect(treatment(one.seen)).toEqual({ ...LEFT_ALONE, alerts });
      const outcomes = one.seen.heartbeats().flatMap(({ payload }) => payload.tool_calls.map(({ outcome }) => outcome));
      expect(outcomes).toContain('refused');
    });

    test('runs a command longer than its default limit: is left alone', async () => {
      const one = await run(headless(client, 'longBashByDefault'));
      expect(await finish(one, 6 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
    });

    test('runs a command in the background: is left alone', async () => {
      const one = await run(headless(client, 'backgroundBash'));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
    });

    test('has a sub-agent at work: is not idle in the meantime, and the sub-agent is an agent of its own', async () => {
      const one = await run(headless(client, 'subagent'));
      expect(await finish(one, 4 * MINUTE)).toBe(0);
      expect(treatment(one.seen)).toEqual(LEFT_ALONE);
      const child = one.seen.children().at(0);
      expect(child).toBeDefined();
      const ofChild = seenOf(stage, child ?? '');
      expect(treatment(ofChild)).toEqual(LEFT_ALONE);
      const atWork = ofChild.heartbeats().filter(({ payload }) => payload.activity === 'working');
      const [from, to] = [atWork.at(0)?.occurredAt ?? 0, atWork.at(-1)?.occurredAt ?? 0];
      const meanwhile = one.seen.heartbeats().filter(({ occurredAt }) => occurredAt >= from && occurredAt <= to);
      expect(meanwhile.length).toBeGreaterThan(0);
      expect(meanwhile.map(({ payload }) => payload.activity)).not.toContain('idle');
    });

    test('has a sub-agent that gets no answer: the sub-agent is found stuck', async () => {
      const one = await run(headless(client, 'subagentHangs'));
      await until(
        'a STUCK sub-agent or parent',
        async () =>
          [one.session.name, ...one.seen.children()].some((name) => seenOf(stage, name).states().includes('STUCK')),
        4 * MINUTE,
      );
    });
  });

  test('claude-code meets HTTP 429 with Retry-After: is rate_limited until then, left alone, and finishes', async () => {
    const one = await run(headless('claude-code', 'rateLimited', { policy: 'vigil' }));
    expect(await finish(one, 4 * MINUTE)).toBe(0);
    expect(one.seen.exemptions()).toContain('rate_limited');
    expect(treatment(one.seen)).toEqual(LEFT_ALONE);
  });

  test('codex meets HTTP 429: ends as the client ends, and is not judged stuck', async () => {
    const one = await run(headless('codex', 'rateLimited', { policy: 'vigil' }));
    await finish(one, 4 * MINUTE);
    expect(one.seen.reasons()).toEqual([]);
  });

  test('a client behind vigil run does what it does alone: its file is there', async () => {
    const one = await run(headless('claude-code', 'counted'));
    expect(await finish(one, 3 * MINUTE)).toBe(0);
    const lines = readFileSync(`${one.session.place.project}/counted.txt`, 'utf8').trim().split('\n');
    expect(lines).toEqual(['step 1', 'step 2', 'step 3', 'step 4']);
  });
});
