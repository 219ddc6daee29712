import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapterNamed } from '@vigil/adapters';
import { newSession, observe } from '@vigil/adapters/session';
import type { ToolCall } from '@vigil/events';
import { momentsOf } from '@vigil/hook/replaying';
import { append, spoolFile } from '@vigil/hook/spool';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentSessions, noSessions } from './agent-sessions.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-recorded-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const POLL_MS = 2000;

/** The tokens that these lines of a session file come to. */
const tokensIn = (client: string, lines: readonly string[]): number => {
  const reader = adapterNamed(client)?.transcript;
  let [state, session, tokens] = [reader?.initial, newSession, 0];
  for (const line of lines) {
    const read = reader?.read(state, line);
    state = read?.state;
    for (const event of read?.events ?? []) {
      const observed = observe(session, event);
      session = observed.session;
      tokens = observed.reports.at(-1)?.fields.token_count ?? tokens;
    }
  }
  return tokens;
};

/** A recorded session beside a supervisor that reads the spool with each hook, and the file every two seconds. */
const watched = (client: string, run: string, lateMs: number, limit = Number.POSITIVE_INFINITY) => {
  const path = join(dir, 'session.jsonl');
  writeFileSync(path, '');
  const ends = new Map<string, ToolCall[]>();
  const costs = new Set<number | null>();
  let tokens = 0;
  const sessions = new AgentSessions({
    dir,
    memory: noSessions,
    logger: (message) => expect.unreachable(message),
    askAtStop: () => null,
    refusalOf: () => (tokens >= limit ? 'the limit is reached' : null),
    onReport: ({ fields }) => {
      tokens = fields.token_count ?? tokens;
      costs.add(fields.cost_usd ?? null);
      for (const call of fields.tool_calls ?? [])
        if (call.outcome !== 'running') ends.set(call.call_id, [...(ends.get(call.call_id) ?? []), call]);
    },
  });
  const asked: { readonly tokensInFile: number; readonly isRefused: boolean }[] = [];
  const moments = momentsOf(client, run, path, lateMs);
  let polled = moments[0]?.at ?? 0;
  const written: string[] = [];
  for (const moment of moments) {
    for (; polled + POLL_MS <= moment.at; polled += POLL_MS) {
      sessions.read();
      sessions.readTranscripts(polled);
    }
    if (moment.kind === 'line') {
      appendFileSync(path, `${moment.line}\n`);
      written.push(moment.line);
      continue;
    }
    append(join(dir, spoolFile(client, moment.record.session)), moment.record);
    sessions.read();
    if (moment.name === 'PreToolUse')
      asked.push({
        tokensInFile: tokensIn(client, written),
        isRefused: sessions.question(moment.record.id)?.refusal != null,
      });
  }
  sessions.readTranscripts(polled);
  const outcomes = [...ends.values()].map((calls) => calls.map((one) => one.error_class ?? one.outcome).join(' '));
  return { outcomes, costs: [...costs], asked, tokens };
};

test.each([
  ['before the hook that reports its end starts, as recorded', 0],
  ['after that hook', 320],
])('each failed command of Codex ends once, with its exit code, where that is written %s', (_, lateMs) => {
  expect(watched('codex', 'cx-loops', lateMs).outcomes).toEqual(Array.from({ length: 16 }, () => 'exit_2'));
});

test('a command of Codex whose exit code is not written when its turn ends ends once, as its hook reports it', () => {
  expect(watched('codex', 'cx-loops', 60_000).outcomes).toEqual(Array.from({ length: 16 }, () => 'ok'));
});

test.each([0, 320])('a command of Codex that succeeds ends once, as such, with a file that is %i ms late', (lateMs) => {
  expect(watched('codex', 'cx-works', lateMs).outcomes).toEqual(Array.from({ length: 5 }, () => 'ok'));
});

test.each([
  ['claude-code', 'cc-loops'],
  ['codex', 'cx-loops'],
])('of %s, each call after the file shows that a limit is reached is refused, and none before', (client, run) => {
  const limit = 20_000;
  const { asked } = watched(client, run, 0, limit);
  expect(new Set(asked.map(({ isRefused }) => isRefused))).toEqual(new Set([true, false]));
  expect(asked.filter(({ tokensInFile, isRefused }) => isRefused !== tokensInFile >= limit)).toEqual([]);
});

test.each([
  ['cc-loops', 0.1836],
  ['cc-works', 0.03],
])('the cost of %s, which is in the last line of its file, is reported', (run, cost) => {
  expect(watched('claude-code', run, 0).costs.at(-1)).toBeCloseTo(cost, 6);
});
