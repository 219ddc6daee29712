import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentReport, isBusy, type SessionEvent } from '@vigil/adapters/session';
import { append, type SpoolRecord, spoolFile } from '@vigil/hook/spool';
import { ended, failed, recordOf, started } from '@vigil/hook/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentSessions, hasEnded, noSessions, type SessionsMemory } from './agent-sessions.ts';

let dir: string;
let reports: AgentReport[];
let logged: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-sessions-'));
  [reports, logged] = [[], []];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const open = (memory: SessionsMemory = noSessions, refusalOf = (): string | null => null) =>
  new AgentSessions({
    dir,
    memory: JSON.parse(JSON.stringify(memory)),
    logger: (message) => void logged.push(message),
    refusalOf,
    askAtStop: () => null,
    onReport: (report) => void reports.push(report),
  });
const spool = (record: SpoolRecord): void => append(join(dir, spoolFile(record.client, record.session)), record);
const stateOf = ({ current }: AgentSessions) =>
  current && { isBusy: isBusy(current.fold.session), hasEnded: hasEnded(current) };
const calls = () =>
  reports.flatMap(({ fields }) => (fields.tool_calls ?? []).map(({ call_id, outcome }) => `${call_id} ${outcome}`));

test('the next supervisor continues where the last one left off: each record is folded once', () => {
  const first = open();
  spool(recordOf([started('a', 1)]));
  spool(recordOf([started('b', 1)]));
  first.read();
  spool(recordOf([ended('a', 2)]));
  const second = open(first.memory);
  second.read();
  spool(recordOf([ended('b', 3)]));
  second.read();
  second.read();
  open(second.memory).read(true);
  expect(calls()).toEqual(['a running', 'b running', 'a ok', 'b ok']);
  expect(Object.keys(second.current?.fold.session.main.open ?? {})).toEqual([]);
});

test('a supervisor that died before it saved its position reads the same records again', () => {
  const first = open();
  spool(recordOf([started('a', 1)]));
  first.read();
  const { memory } = first;
  spool(recordOf([ended('a', 2)]));
  first.read();
  reports = [];
  open(memory).read();
  expect(calls()).toEqual(['a ok']);
});

test('a call whose outcome its file never shows ends as its hook reported it after five seconds, once', () => {
  const sessions = open();
  const end = { ...ended('a', 1000), isOutcomeInFile: true } as SessionEvent;
  spool(recordOf([started('a', 1), end], { transcripts: [{ agent: null, path: join(dir, 'not there') }] }));
  sessions.read();
  sessions.readTranscripts(5999);
  expect(calls()).toEqual(['a running']);
  sessions.readTranscripts(6000);
  sessions.readTranscripts(60_000);
  expect(calls()).toEqual(['a running', 'a ok']);
});

test('a record that a program has forged spoils no other', () => {
  spool(recordOf([{ kind: 'call_started' } as never]));
  spool(recordOf([{ kind: 'nonsense', at: 'x', agent: 7 } as never]));
  spool(recordOf([started('a', 1)]));
  open().read();
  expect(calls()).toContain('a running');
});

test('before the first hook there is no session; afterwards it is known whether a turn is open', () => {
  const sessions = open();
  expect([sessions.current, sessions.breakers]).toEqual([null, []]);
  spool(recordOf([{ kind: 'turn_started', at: 1, agent: null }]));
  sessions.read();
  expect(sessions.current).toMatchObject({ client: 'claude-code', id: 's-1' });
  expect(stateOf(sessions)).toEqual({ isBusy: true, hasEnded: false });
  sessions.add({ kind: 'turn_interrupted', at: 2, agent: null });
  expect(stateOf(sessions)).toMatchObject({ isBusy: false });
  expect(reports.at(-1)?.fields).toMatchObject({ activity: 'awaiting_input', turn: { open: false } });
});

test('a limit refuses the call of a hook that asks, and each hook learns of its own call only', () => {
  const sessions = open(noSessions, () => 'the limit of 1000 tokens a day is reached');
  const [call, prompt] = [recordOf([started('a', 1)]), recordOf([{ kind: 'turn_started', at: 0, agent: null }])];
  spool(prompt);
  spool(call);
  sessions.read();
  expect(sessions.question(call.id)).toEqual({
    takesText: false,
    refusal: 'the limit of 1000 tokens a day is reached',
    question: null,
  });
  expect(sessions.question(prompt.id)).toMatchObject({ refusal: null });
  expect(calls()).toEqual(['a refused']);
});
const answer = (id: string, output: number): string =>
  `${JSON.stringify({
    type: 'assistant',
    timestamp: '2026-11-23T00:00:00.000Z',
    requestId: id,
    message: { id, model: 'm', role: 'assistant', usage: { input_tokens: 10, output_tokens: output } },
  })}\n`;

test('tokens come from the transcript that a record names, each line once, also across supervisors', () => {
  const path = join(dir, 'transcript.jsonl');
  writeFileSync(path, answer('r1', 5));
  spool(recordOf([{ kind: 'turn_started', at: 1, agent: null }], { transcripts: [{ agent: null, path }] }));
  const first = open();
  first.read();
  expect(reports.at(-1)?.fields.token_count).toBe(15);
  appendFileSync(path, answer('r2', 7));
  const second = open(first.memory);
  second.readTranscripts(0);
  second.readTranscripts(0);
  expect(reports.at(-1)?.fields.token_count).toBe(32);
});

/** Reads a record of a session, whose file is `path`. */
const readTurnOf = (sessions: AgentSessions, session: string, path: string, kind: 'turn_started' | 'turn_ended') => {
  const event = kind === 'turn_started' ? { kind, at: 1, agent: null } : { kind, wakes: false, at: 2, agent: null };
  spool(recordOf([event as SessionEvent], { session, transcripts: [{ agent: null, path }] }));
  sessions.read();
};
const tokensOfEach = (sessions: AgentSessions) => sessions.used.map(({ tokens }) => tokens);

test('what an agent has used is known for each session that it has been, also for the next supervisor', () => {
  const [first, second] = [join(dir, 'first.jsonl'), join(dir, 'second.jsonl')];
  writeFileSync(first, answer('r1', 890));
  writeFileSync(second, answer('r2', 30));
  const sessions = open();
  expect(tokensOfEach(sessions)).toEqual([]);
  readTurnOf(sessions, 's-1', first, 'turn_started');
  readTurnOf(sessions, 's-1', first, 'turn_ended');
  expect(tokensOfEach(sessions)).toEqual([900]);
  readTurnOf(sessions, 's-2', second, 'turn_started');
  expect(tokensOfEach(sessions)).toEqual([900, 40]);
  const next = open(sessions.memory);
  readTurnOf(next, 's-2', second, 'turn_ended');
  appendFileSync(first, answer('r3', 90));
  readTurnOf(next, 's-1', first, 'turn_started');
  expect(tokensOfEach(next)).toEqual([40, 1000]);
});

const turn: SessionEvent = { kind: 'turn_started', at: 1, agent: null };
const callsOfSession = (i: number) => Array.from({ length: 50 }, (_, n) => `call-${n}-of-session-${i}`);
const workThrough = (sessions: AgentSessions, i: number) => {
  const over: SessionEvent = { kind: 'turn_ended', wakes: false, at: 3, agent: null };
  const work = callsOfSession(i).flatMap((id) => [started(id, 1), ended(id, 2)]);
  spool(recordOf([turn, ...work, over], { session: `s-${i}` }));
  sessions.read();
};

test('of the sessions before the last twenty no calls are remembered: a wrapper may start a session each minute', () => {
  const sessions = open();
  const bytesAfter = (from: number, to: number) => {
    for (let i = from; i < to; i++) workThrough(sessions, i);
    return JSON.stringify(sessions.memory).length;
  };
  const before = bytesAfter(0, 30);
  expect(bytesAfter(30, 60) - before).toBeLessThan(30 * 1000);
  const callsOf = (i: number) => Object.values(sessions.memory.sessions)[i]?.fold.session.main.endedCalls.length;
  expect([callsOf(0), callsOf(38), callsOf(39), callsOf(59)]).toEqual([0, 0, 50, 50]);
});

test('the use of such a session still counts, and a resumed one continues', () => {
  const sessions = open();
  const path = join(dir, 'first.jsonl');
  writeFileSync(path, answer('r1', 90));
  readTurnOf(sessions, 's-first', path, 'turn_started');
  readTurnOf(sessions, 's-first', path, 'turn_ended');
  for (let i = 0; i < 30; i++) workThrough(sessions, i);
  expect(tokensOfEach(sessions)[0]).toBe(100);
  appendFileSync(path, answer('r2', 40));
  readTurnOf(sessions, 's-first', path, 'turn_started');
  expect(tokensOfEach(sessions).at(-1)).toBe(150);
});

test('a session that still works keeps its calls, however many others there were', () => {
  const sessions = open();
  spool(recordOf([turn, started('outer', 1)], { session: 's-outer' }));
  sessions.read();
  for (let i = 0; i < 30; i++) workThrough(sessions, i);
  spool(recordOf([ended('outer', 2)], { session: 's-outer' }));
  sessions.read();
  expect(calls().filter((call) => call.startsWith('outer'))).toEqual(['outer running', 'outer ok']);
});

test('a session that runs within the session of the agent is not counted for the agent', () => {
  const [outer, inner] = [join(dir, 'outer.jsonl'), join(dir, 'inner.jsonl')];
  writeFileSync(outer, answer('r1', 90));
  writeFileSync(inner, answer('r2', 30));
  const sessions = open();
  readTurnOf(sessions, 's-1', outer, 'turn_started');
  readTurnOf(sessions, 's-2', inner, 'turn_started');
  expect(tokensOfEach(sessions)).toEqual([100]);
});

/** What the client prints of the same session. */
const counted = (output: number): SessionEvent => {
  const usage = { model: 'm', input_tokens: 10, cache_read_tokens: 0, cache_write_tokens: 0, output_tokens: output };
  return { kind: 'usage_counted', usage: { usage: [usage], context: null, costUsd: 1 }, at: 2, agent: null };
};

test('what the client prints is its session, as long as no hook reports it', () => {
  const sessions = open();
  sessions.printed('claude-code', 's-1', [turn, started('a', 1), counted(5)]);
  const next = open(sessions.memory);
  next.printed('claude-code', 's-1', [ended('a', 2)]);
  expect(calls()).toEqual(['a running', 'a ok']);
  expect(next.current).toMatchObject({ client: 'claude-code', id: 's-1', source: 'output' });
  expect(stateOf(next)).toMatchObject({ isBusy: true });
  expect(reports.at(-1)?.fields.token_count).toBe(15);
});

test('from the first record of a hook on, what the client prints of the session is not counted', () => {
  const sessions = open();
  spool(recordOf([turn, started('a', 1)]));
  sessions.printed('claude-code', 's-1', [turn, started('a', 1), started('b', 1), counted(5)]);
  spool(recordOf([ended('a', 2)]));
  sessions.printed('claude-code', 's-1', [ended('a', 2), counted(6)]);
  sessions.read();
  expect(calls()).toEqual(['a running', 'a ok']);
  expect(sessions.current).toMatchObject({ source: 'hooks' });
  expect(reports.at(-1)?.fields).toMatchObject({ token_count: null, cost_usd: null });
});

test('a hook that reports later continues from the output: calls end once, tokens come from the file alone', () => {
  const path = join(dir, 'transcript.jsonl');
  writeFileSync(path, answer('r1', 5) + answer('r2', 7));
  const sessions = open();
  sessions.printed('claude-code', 's-1', [turn, started('a', 1), ended('a', 2), started('b', 3), counted(5)]);
  expect(reports.at(-1)?.fields.token_count).toBe(15);
  spool(recordOf([ended('a', 2), ended('b', 4)], { transcripts: [{ agent: null, path }] }));
  sessions.printed('claude-code', 's-1', [ended('b', 4), counted(12)]);
  expect(calls()).toEqual(['a running', 'a ok', 'b running', 'b ok']);
  expect(reports.at(-1)?.fields).toMatchObject({ token_count: 32, cost_usd: null });
});

test('hooks of a session within the session do not silence what the client prints', () => {
  const sessions = open();
  sessions.printed('codex', 'outer', [turn, started('a', 1)]);
  spool(recordOf([turn, started('inner', 2), ended('inner', 3)]));
  sessions.printed('codex', 'outer', [ended('a', 4)]);
  expect(calls()).toEqual(['a running', 'inner ok', 'a ok']);
  expect(sessions.current).toMatchObject({ client: 'codex', id: 'outer', source: 'output' });
});

test('no breaker is held where no hook can refuse a call', () => {
  const sessions = open();
  const failures = ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((id, at) => [started(id, at), failed(id, at)]);
  sessions.printed('claude-code', 's-1', failures);
  expect(sessions.breakers).toEqual([]);
  expect(sessions.resetBreaker('tool_execution')).toBe(false);
  spool(recordOf(failures));
  sessions.read();
  expect(sessions.breakers).not.toEqual([]);
});
