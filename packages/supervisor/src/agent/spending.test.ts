import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SessionEvent } from '@vigil/adapters/session';
import { append, type SpoolRecord, spoolFile } from '@vigil/hook/spool';
import { ended, recordOf, started } from '@vigil/hook/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { socketPath } from '../messages/agent-socket.ts';
import { liveOn, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import { spoolOf } from './agent-spec.ts';

let stage: Stage;
let instance: Supervised;
let path: string;

beforeEach(async () => {
  stage = await setStage();
  path = join(stage.dir, 'transcript.jsonl');
  writeFileSync(path, '');
});
afterEach(async () => {
  await instance.end('the test is over', 0).then(() => instance.settled);
  await stage.close();
});

const SELDOM = 600_000;
const until = <T>(look: () => T | Promise<T>) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (intervalMs: number): Promise<void> => {
  instance = await liveOn(stage, scriptSpec('sleep 600', { intervalMs }), 80, () => {});
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(0));
};

const answer = (id: string, output_tokens: number): string =>
  `${JSON.stringify({
    type: 'assistant',
    timestamp: new Date().toISOString(),
    requestId: id,
    message: { id, model: 'm', role: 'assistant', usage: { input_tokens: 0, output_tokens } },
  })}\n`;

const fileOf = (agent: string | null): string => (agent === null ? path : `${path}-${agent}`);

/** A hook that has spooled its record asks; the refusal of its call. */
const ask = (...events: readonly SessionEvent[]): Promise<string | null> => askOf(null, ...events);
const askOf = (agent: string | null, ...events: readonly SessionEvent[]): Promise<string | null> =>
  askWith(recordOf(events, { transcripts: [{ agent, path: fileOf(agent) }] }));
/** The same in another session of the process. */
const askInNext = (...events: readonly SessionEvent[]): Promise<string | null> =>
  askWith(recordOf(events, { session: 's-2', transcripts: [{ agent: null, path: fileOf('next') }] }));
const askWith = async (record: SpoolRecord): Promise<string | null> => {
  append(join(spoolOf(stage.dir, 'instance-1'), spoolFile(record.client, record.session)), record);
  const socket = connect(socketPath(join(stage.dir, 's'), 'instance-1'));
  await once(socket, 'connect');
  socket.write(`${JSON.stringify({ hook: { spooled: record.id } })}\n`);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const { hook } = JSON.parse((await lines.next()).value ?? '{}') as { hook?: { refusal: string | null } };
  socket.destroy();
  return hook?.refusal ?? null;
};
const turn: SessionEvent = { kind: 'turn_started', at: 1, agent: null };
const newCalls = () => stage.gateway.heartbeats.flatMap(({ tool_calls }) => tool_calls.map(({ call_id }) => call_id));

let calls = 0;
const askForCall = (): Promise<string | null> => {
  calls += 1;
  return ask(started(`call-${calls}`, Date.now()));
};

test('a limit that the gateway names refuses each call until the gateway lifts it', async () => {
  await start(100);
  expect(await askForCall()).toBe(null);
  stage.gateway.refusal = 'the limit of task T-1 is reached';
  await until(async () => expect(await askForCall()).toBe('the limit of task T-1 is reached'));
  stage.gateway.refusal = null;
  await until(async () => expect(await askForCall()).toBe(null));
});

test("the policy's limit for one agent refuses calls as soon as the policy has arrived", async () => {
  stage.gateway.policies.set('p', { spending: { agent: { tokens: 1000 } } });
  stage.gateway.assigned = { name: 'p', hash: 'h' };
  await start(100);
  appendFileSync(path, answer('r1', 1000));
  await until(async () => expect(await askForCall()).toContain('1000 of 1000 tokens are used'));
});

test('the limit for one agent applies to a sub-agent by itself: its calls are refused, those of its parent are not', async () => {
  stage.gateway.policies.set('p', { spending: { agent: { tokens: 1000 } } });
  stage.gateway.assigned = { name: 'p', hash: 'h' };
  await start(100);
  await ask(turn, { kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null });
  writeFileSync(fileOf('a1'), answer('r1', 999));
  expect(await askOf('a1', started('sub-1', 3, 'a1'))).toBe(null);
  appendFileSync(fileOf('a1'), answer('r2', 1));
  let calls = 1;
  const askForSub = () => {
    calls += 1;
    return askOf('a1', started(`sub-${calls}`, Date.now(), 'a1'));
  };
  await until(async () => expect(await askForSub()).toContain('1000 of 1000 tokens are used'));
  expect(await askForCall()).toBe(null);
});

test('a call that starts after tokens were used is reported at once, so that a limit of its task is known soon', async () => {
  await start(SELDOM);
  await ask(turn);
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.turn).toMatchObject({ open: true }));
  appendFileSync(path, answer('r1', 1000));
  await ask(started('a', 2));
  await until(() => expect(newCalls()).toContain('a'));
  expect(stage.gateway.heartbeats.at(-1)?.token_count).toBe(1000);
});

test('a call that starts without new tokens is not reported at once', async () => {
  await start(SELDOM);
  await ask(turn);
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.turn).toMatchObject({ open: true }));
  const before = stage.gateway.heartbeats.length;
  await ask(started('a', 2));
  await ask(ended('b', 3));
  await until(() => expect(newCalls()).toContain('b'));
  expect(stage.gateway.heartbeats.slice(before).map(({ tool_calls }) => tool_calls.length)).toEqual([2]);
});

const turnEnded: SessionEvent = { kind: 'turn_ended', wakes: false, at: 2, agent: null };

test('the limit for one agent does not restart with another session of the same process', async () => {
  stage.gateway.policies.set('p', { spending: { agent: { tokens: 1000 } } });
  stage.gateway.assigned = { name: 'p', hash: 'h' };
  await start(100);
  appendFileSync(path, answer('r1', 900));
  await ask(turn);
  await ask(turnEnded);
  writeFileSync(fileOf('next'), answer('r2', 99));
  await askInNext(turn);
  expect(await askInNext(started('in-next-1', 3))).toBe(null);
  appendFileSync(fileOf('next'), answer('r3', 1));
  let calls = 1;
  const askForNext = () => {
    calls += 1;
    return askInNext(started(`in-next-${calls}`, Date.now()));
  };
  await until(async () => expect(await askForNext()).toContain('1000 of 1000 tokens are used'));
});

test.each([
  ['more than before', 1000],
  ['fewer than before, as in another session', 100],
])('a call that starts after tokens were used is reported at once: %s', async (_, token_count) => {
  await start(SELDOM);
  const socket = connect(socketPath(join(stage.dir, 's'), 'instance-1'));
  const send = (report: object) => socket.write(`${JSON.stringify(report)}\n`);
  send({ activity: 'working', token_count: 900 });
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.token_count).toBe(900));
  send({ token_count, tool_calls: [{ call_id: 'a', tool: 'Bash', outcome: 'running' }] });
  await until(() => expect(newCalls()).toContain('a'));
  expect(stage.gateway.heartbeats.at(-1)?.token_count).toBe(token_count);
  socket.destroy();
});

test('a limit that is named to a sub-agent refuses calls of its session soon', async () => {
  await start(SELDOM);
  await ask(turn, { kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null });
  await until(() => expect(stage.gateway.heartbeats.some(({ parent_agent_id }) => parent_agent_id)).toBe(true));
  // All that was to be reported at once has been, when this has.
  await ask(ended('before', 3));
  await until(() => expect(newCalls()).toContain('before'));
  stage.gateway.refusal = 'the limit of task T-1 is reached';
  writeFileSync(fileOf('a1'), answer('r1', 1000));
  const ofParent = () => stage.gateway.heartbeats.filter(({ parent_agent_id: parent }) => parent === null).length;
  const before = ofParent();
  await askOf('a1', started('sub', 3, 'a1'));
  await until(() => expect(ofParent()).toBeGreaterThan(before));
  await until(async () => expect(await askForCall()).toBe('the limit of task T-1 is reached'));
});

test('a call whose outcome its file never shows ends after five seconds, while no hook reports', async () => {
  await start(100);
  const end = { ...ended('unknown', Date.now() - 5000), isOutcomeInFile: true } as SessionEvent;
  await ask(started('unknown', Date.now() - 6000), end);
  const outcomes = () =>
    stage.gateway.heartbeats.flatMap(({ tool_calls }) =>
      tool_calls.map(({ call_id, outcome }) => `${call_id} ${outcome}`),
    );
  await until(() => expect(outcomes()).toContain('unknown ok'));
});
