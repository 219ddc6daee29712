import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionEvent } from '@vigil/adapters/session';
import { type Heartbeat, parseHeartbeat, parsePayload, Topic } from '@vigil/events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadTranscript } from '../clients.ts';
import { momentsOf } from '../replaying.fixture.ts';
import type { SpoolRecord } from '../spool/spool.ts';
import { ended, failed, recordOf, started } from '../testing.ts';
import { sessionAtGateway } from './gateway.ts';

let server: Server;
let url: string;
let dir: string;
let status: number;
let orders: object[];
/** why no more calls may be made, as the gateway answers; null: they may */
let limit: string | null;
/** what is asked before a turn ends, as the gateway answers; null: nothing */
let askAtStop: object | null;
const heartbeats: Heartbeat[] = [];
const receipts: { orderId: string; outcome: string; kind: string }[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-hook-'));
  status = 202;
  orders = [];
  limit = null;
  askAtStop = null;
  heartbeats.length = 0;
  receipts.length = 0;
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    if (status === 202 && request.url === '/v1/heartbeats') heartbeats.push(...body.map(parseHeartbeat));
    if (status === 202 && request.url === '/v1/receipts')
      for (const { payload } of body) receipts.push(parsePayload(Topic.orderReceipt, 'ORDER_RECEIPT', payload));
    const { authorization: authorized } = request.headers;
    response.writeHead(status).end(JSON.stringify({ accepted: 1, orders, refusal: limit, askAtStop, authorized }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  rmSync(dir, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** A transcript whose lines are numbers of output tokens. */
const transcript = {
  initial: 0,
  resumed: () => 0,
  read: (state: unknown, line: string) => {
    const tokens = {
      model: 'm',
      input_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: Number(line),
    };
    const answer = { requestId: `r-${state}`, tokens, context: null, costUsd: null };
    const event: SessionEvent = { kind: 'answer_counted', answer, at: 1, agent: null };
    return { state: Number(state) + 1, events: [event] };
  },
};
const env = (more: Record<string, string> = {}) => ({
  VIGIL_STATE_DIR: dir,
  VIGIL_AGENT: 'worker-1',
  VIGIL_GATEWAY_TOKEN: 't',
  ...more,
});
const sendRecord = (record: SpoolRecord, where = url, more: Record<string, string> = {}) =>
  // A machine that does much else answers late.
  sessionAtGateway(
    where,
    { ...record, session: 's-1' },
    async () => transcript,
    env(more),
    Date.now,
    30_000,
  ).exchange();
const send = (events: readonly SessionEvent[], more: Partial<SpoolRecord> = {}) =>
  sendRecord(recordOf(events, { takesText: true, ...more }));
/** The gateway is asked again only after a while. */
const later = async <T>(work: () => Promise<T>): Promise<T> => {
  const now = Date.now;
  Date.now = () => now() + 10_001;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
};
const prompt: SessionEvent = { kind: 'turn_started', at: 1, agent: null };
const stop: SessionEvent = { kind: 'turn_ended', wakes: false, at: 9, agent: null };
const newCalls = () =>
  heartbeats.flatMap(({ tool_calls }) => tool_calls.map(({ call_id, outcome }) => `${call_id} ${outcome}`));
const nudge = (more: object = {}) => ({
  type: 'NUDGE_AGENT',
  expiresInMs: 60_000,
  payload: {
    orderId: 'nudge-1',
    number: 1,
    agentId: 'worker-1',
    instanceId: 's-1',
    runtimeId: 'none',
    axes: ['repetition'],
    foldedSequence: 1,
    message: 'Are you still there?',
    ...more,
  },
});
const text = { orderId: 'nudge-1', text: 'Are you still there?' };

test('a session is an agent of its own, with one heartbeat for each event', async () => {
  await send([prompt]);
  await send([started('c', 2)]);
  await send([failed('c', 3)]);
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  expect(heartbeats[2]).toMatchObject({
    agent_id: 'worker-1',
    instance_id: 's-1',
    activity: 'working',
    turn: { open: true, started_at: 1 },
    client: { name: 'claude-code', session_id: 's-1' },
    error_count: 1,
    token_count: null,
    tool_calls: [{ call_id: 'c', outcome: 'error', started_at: 2 }],
  });
});

test('a session that has no name is named after its client and itself', async () => {
  await sendRecord(recordOf([stop]), url, { VIGIL_AGENT: '' });
  expect(heartbeats[0]?.agent_id).toBe('claude-code-s-1');
});

test('hooks beside each other lose nothing, and no two heartbeats have one sequence', async () => {
  await Promise.all(Array.from({ length: 12 }, (_, n) => send([ended(`call-${n}`, 2)])));
  await send([stop]);
  expect(newCalls().sort()).toEqual(Array.from({ length: 12 }, (_, n) => `call-${n} ok`).sort());
  expect(new Set(heartbeats.map(({ sequence }) => sequence)).size).toBe(heartbeats.length);
});

test('the next hook sends what a killed hook has appended', async () => {
  await send([started('c', 2)]);
  // Killed as soon as its record is on the disk.
  sessionAtGateway(url, { ...recordOf([ended('c', 3)]), session: 's-1' }, async () => transcript, env(), Date.now);
  await send([stop]);
  expect(newCalls()).toEqual(['c running', 'c ok']);
});

test('a later hook sends what the gateway did not take, each call once', async () => {
  status = 503;
  await send([started('c', 2)]);
  status = 202;
  await send([ended('c', 3)]);
  expect(heartbeats).toEqual([]);
  await later(() => send([stop]));
  expect(newCalls()).toEqual(['c running', 'c ok']);
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('of 300 calls that end while the gateway is away each is reported', async () => {
  status = 503;
  await send([prompt]);
  for (let n = 0; n < 300; n += 1)
    sessionAtGateway(
      url,
      { ...recordOf([ended(`call-${n}`, n + 2)]), session: 's-1' },
      async () => transcript,
      env(),
      Date.now,
    );
  status = 202;
  await later(() => send([stop]));
  await later(() => send([stop]));
  expect(new Set(newCalls()).size).toBe(300);
});

test('the end of a call that was sent as running is sent, however many calls its record has after it', async () => {
  await send([started('long', 2), started('of-sub', 2, 'sub')]);
  const after = Array.from({ length: 150 }, (_, n) => [started(`after-${n}`, 4), ended(`after-${n}`, 5)]).flat();
  const ends = [ended('long', 3), ended('of-sub', 3, {}, 'sub')];
  await send([...ends, ...after, { kind: 'subagent_ended', id: 'sub', at: 6, agent: null }]);
  const [own] = heartbeats.filter(({ sequence, parent_agent_id: parent }) => parent === null && sequence === 2);
  const sent = own?.tool_calls.map(({ call_id: id, outcome }) => `${id} ${outcome}`) ?? [];
  expect([sent.length, ...sent.slice(0, 3), sent.at(-1)]).toEqual([
    100,
    'long ok',
    'of-sub abandoned',
    'after-52 ok',
    'after-149 ok',
  ]);
});

test('what the gateway refuses for good is not sent again', async () => {
  status = 400;
  await send([started('c', 2)]);
  status = 202;
  await send([stop]);
  expect(heartbeats.map(({ sequence }) => sequence)).toEqual([2]);
});

test('a nudge goes once, with its receipt, however often it is offered', async () => {
  orders = [nudge()];
  const { texts, printed } = await send([ended('a', 1)]);
  expect(texts).toEqual([text]);
  expect(receipts).toEqual([]);
  await printed();
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]);
  expect((await send([ended('b', 2)])).texts).toEqual([]);
  expect(receipts).toHaveLength(1);
});

describe('the hook that ends a turn', () => {
  const check = { checking: true, outcome: 'error', error_class: 'exit_1' } as const;
  const change = { mutating: true, target: 'src/a.ts' } as const;
  const ends = { continuesTurn: true };

  test('asks for what is missing, by the newest answer of the gateway', async () => {
    await send([prompt, ended('test', 2, check)]);
    expect((await send([stop], ends)).question).toBeNull();
    askAtStop = { needsCheck: false };
    await send([prompt, ended('edit', 3, { ...change, outcome: 'error', error_class: 'tool_error' })]);
    expect((await send([stop], ends)).question).toBe(
      'Vigil: you are about to stop, and your last check failed; your last change of src/a.ts failed. ' +
        'Finish it and check it, or report what is left and why.',
    );
    expect((await send([stop], { continuesTurn: false })).question, 'a turn that it has continued').toBeNull();
  });

  test('asks nothing where the last check has passed and each change was made', async () => {
    askAtStop = { needsCheck: true };
    await send([prompt, ended('test', 2, check), ended('edit', 3, change)]);
    await send([ended('again', 4, { checking: true })]);
    expect((await send([stop], ends)).question).toBeNull();
  });

  test('asks about a change without a later check where the policy needs one', async () => {
    askAtStop = { needsCheck: true };
    await send([prompt, ended('edit', 3, change)]);
    expect((await send([stop], ends)).question).toContain('no check has passed since your last change');
  });

  test('asks once about the same calls, and again after a further check, change or failure', async () => {
    askAtStop = { needsCheck: true };
    const stops = async () => {
      await send([prompt]);
      const answer = await send([stop], ends);
      await answer.printed();
      return answer.question !== null;
    };
    await send([prompt, ended('test', 2, check)]);
    expect([await stops(), await stops()]).toEqual([true, false]);
    await send([prompt, ended('read', 3)]);
    expect(await stops(), 'it has only read').toBe(false);
    await send([prompt, ended('test again', 4, check)]);
    expect([await stops(), await stops()]).toEqual([true, false]);
    await send([prompt, ended('edit', 5, change)]);
    expect([await stops(), await stops()]).toEqual([true, false]);
  });

  test('asks again where the question was not printed', async () => {
    askAtStop = { needsCheck: false };
    await send([prompt, ended('test', 2, check)]);
    expect((await send([stop], ends)).question).not.toBeNull();
    expect((await send([stop], ends)).question).not.toBeNull();
  });

  test('asks while the gateway is away too', async () => {
    askAtStop = { needsCheck: false };
    await send([prompt]);
    status = 503;
    await send([ended('test', 2, check)]);
    expect((await send([stop], ends)).question).toContain('your last check failed');
  });

  test('asks nothing for a failed check of a sub-agent', async () => {
    askAtStop = { needsCheck: false };
    await send([prompt, { kind: 'subagent_started', id: 'sub', type: 'tester', at: 1, agent: null }]);
    await send([ended('test', 2, check, 'sub')]);
    expect((await send([stop], ends)).question).toBeNull();
  });
});

test('a later hook sends a receipt that could not be sent', async () => {
  orders = [nudge()];
  const { printed } = await send([ended('a', 1)]);
  status = 503;
  await printed();
  status = 202;
  expect((await later(() => send([ended('b', 2)]))).texts).toEqual([]);
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]);
});

test('a text whose hook died is uncertain, and is not repeated', async () => {
  orders = [nudge()];
  expect((await send([ended('a', 1)])).texts).toEqual([text]);
  expect((await later(() => send([ended('b', 2)]))).texts).toEqual([]);
  expect(receipts).toMatchObject([{ orderId: 'nudge-1', outcome: 'uncertain' }]);
});

test('an event that cannot carry a text leaves it to the next', async () => {
  orders = [nudge({ foldedSequence: 9 })];
  expect((await send([started('a', 1)], { takesText: false })).texts).toEqual([]);
  expect((await send([ended('a', 2)])).texts).toEqual([text]);
});

test.each([
  ['for another instance', { instanceId: 'another' }, []],
  ['about a silence that is over', { axes: ['absence'], foldedSequence: 0 }, ['superseded']],
  ['about a loop that an edit has ended', { axes: ['repetition'], foldedSequence: 0 }, ['superseded']],
  ['that has awaited a call', { awaits: [['call']], foldedSequence: 0 }, ['superseded']],
])('a text %s is not delivered', async (_, more, outcomes) => {
  orders = [nudge(more)];
  const { texts, printed } = await send([ended('a', 1, { mutating: true })]);
  await printed();
  expect(texts).toEqual([]);
  expect(receipts.map(({ outcome }) => outcome)).toEqual(outcomes);
});

test('a text whose time is over is not delivered, and is answered so', async () => {
  orders = [{ ...nudge(), expiresInMs: 0 }];
  const { texts, printed } = await send([ended('a', 1)]);
  await printed();
  expect(texts).toEqual([]);
  expect(receipts).toMatchObject([{ outcome: 'expired' }]);
});

const fails = async (times: number, where = url): Promise<void> => {
  for (let n = 0; n < times; n += 1) {
    await sendRecord(recordOf([started(`f-${n}`, 1)]), where);
    await sendRecord(recordOf([failed(`f-${n}`, 1)]), where);
  }
};

test('after five failures in a row the next call is refused, reported as refused, and the breaker is reported', async () => {
  await fails(5);
  expect((await send([started('next', 2)])).refusal).toContain('tool_execution is open after 5 failed calls');
  const last = heartbeats.at(-1);
  expect(last?.tool_calls).toMatchObject([{ call_id: 'next', outcome: 'refused' }]);
  expect(last?.breakers).toMatchObject([{ name: 'tool_execution', state: 'OPEN', failures: 5 }, { state: 'CLOSED' }]);
});

test('a breaker protects where Vigil is down too', async () => {
  await fails(5, 'http://127.0.0.1:9');
  expect((await sendRecord(recordOf([started('next', 2)]), 'http://127.0.0.1:9')).refusal).toContain('tool_execution');
});

test('a limit in the answer to the hook of a call refuses this very call, and reports it as refused once', async () => {
  await send([prompt]);
  expect((await send([started('a', 2)], { takesText: false })).refusal).toBe(null);
  limit = 'the limit of task T-1 is reached';
  expect((await send([started('b', 3)], { takesText: false })).refusal).toBe(limit);
  expect(newCalls()).toEqual(['a running', 'b running', 'b refused']);
  expect(new Set(heartbeats.map(({ sequence }) => sequence)).size).toBe(heartbeats.length);
});

test('a limit is remembered while the gateway is away, and forgotten when the gateway lifts it', async () => {
  limit = 'the limit of task T-1 is reached';
  await send([prompt]);
  status = 503;
  expect((await send([started('a', 2)], { takesText: false })).refusal).toBe(limit);
  [status, limit] = [202, null];
  await later(() => send([stop]));
  expect((await send([started('b', 10)], { takesText: false })).refusal).toBe(null);
});

test('calls that start beside each other are all refused, and none that is reported as refused is made', async () => {
  limit = 'the limit of task T-1 is reached';
  const names = Array.from({ length: 6 }, (_, n) => `call-${n}`);
  const answers = await Promise.all(names.map((name) => send([started(name, 2)], { takesText: false })));
  await send([prompt]);
  expect(answers.map(({ refusal }) => refusal)).toEqual(names.map(() => limit));
  const last = new Map(newCalls().map((call) => call.split(' ') as [string, string]));
  expect([...last].toSorted()).toEqual(names.map((name) => [name, 'refused']));
});

test('an end that is reported does not become a refusal', async () => {
  await send([started('a', 2)], { takesText: false });
  limit = 'the limit of task T-1 is reached';
  expect((await send([ended('a', 3)], { takesText: false })).refusal).toBe(null);
  expect(newCalls()).toEqual(['a running', 'a ok']);
});

const reset = (name: string) => ({
  type: 'RESET_BREAKER',
  expiresInMs: 60_000,
  payload: { orderId: 'reset-1', agentId: 'worker-1', instanceId: 's-1', runtimeId: 'none', name },
});

test.each([
  ['closes the breaker, once', 'tool_execution', 'done'],
  ['fails where the hooks hold no such breaker', 'checkpoint_write', 'failed'],
])('an order to reset %s, and the next hook sends its receipt', async (_, name, outcome) => {
  await fails(5);
  orders = [reset(name)];
  await send([prompt], { takesText: false });
  expect((await send([started('next', 2)], { takesText: false })).refusal === null).toBe(outcome === 'done');
  await send([stop], { takesText: false });
  expect(receipts).toMatchObject([{ orderId: 'reset-1', kind: 'reset_breaker', outcome }]);
});

test('tokens come from the transcript that an event names, each line once', async () => {
  const path = join(dir, 'transcript.jsonl');
  writeFileSync(path, '5\n');
  const transcripts = [{ agent: null, path }];
  await send([prompt], { transcripts });
  appendFileSync(path, '7\n');
  await send([stop], { transcripts });
  await send([stop], { transcripts });
  expect(heartbeats.map(({ token_count }) => token_count)).toEqual([5, 12, 12]);
});

test.each([
  ['before the hook that reports its end starts, as recorded', 0],
  ['after that hook', 320],
])('each failed command of Codex ends once, with its exit code, where that is written %s', async (_, lateMs) => {
  const path = join(dir, 'rollout.jsonl');
  writeFileSync(path, '');
  for (const moment of momentsOf('codex', 'cx-loops', path, lateMs)) {
    if (moment.kind === 'line') appendFileSync(path, `${moment.line}\n`);
    else
      await sessionAtGateway(
        url,
        { ...moment.record, session: 's-1' },
        () => loadTranscript('codex'),
        env(),
        Date.now,
        30_000,
      ).exchange();
  }
  const ends = heartbeats.flatMap(({ tool_calls }) => tool_calls.filter(({ outcome }) => outcome !== 'running'));
  expect(ends.map(({ error_class }) => error_class)).toEqual(Array.from({ length: 16 }, () => 'exit_2'));
  expect(new Set(ends.map(({ call_id }) => call_id)).size).toBe(16);
});

test('the cost of a session that Claude Code resumes counts from the resume', async () => {
  const path = join(dir, 'session.jsonl');
  const cost = (totalCostUSD: number): string =>
    `${JSON.stringify({ type: 'cost-state', totalCostUSD, startTime: 1, totalDuration: 1, hasUnknownModelCost: false })}\n`;
  writeFileSync(path, cost(0.5));
  const sendClaude = (event: SessionEvent) => {
    const record = recordOf([event], { transcripts: [{ agent: null, path }] });
    return sessionAtGateway(
      url,
      { ...record, session: 's-1' },
      () => loadTranscript('claude-code'),
      env(),
      Date.now,
      30_000,
    ).exchange();
  };
  await sendClaude({ kind: 'session_started', source: 'resume', at: 0, agent: null });
  appendFileSync(path, cost(0.75));
  await sendClaude({ kind: 'session_ended', continues: false, at: 9, agent: null });
  expect(heartbeats.map(({ cost_usd }) => cost_usd)).toEqual([null, 0.25]);
});

test('a session that is resumed counts from there', async () => {
  const path = join(dir, 'transcript.jsonl');
  writeFileSync(path, '5\n');
  const transcripts = [{ agent: null, path }];
  await send([{ kind: 'session_started', source: 'resume', at: 0, agent: null }], { transcripts });
  appendFileSync(path, '7\n');
  await send([stop], { transcripts });
  expect(heartbeats.map(({ token_count }) => token_count)).toEqual([null, 7]);
});

test('a sub-agent is an agent of its own, from its start to its end, which is reported once', async () => {
  await send([prompt]);
  await send([{ kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null }]);
  await send([started('c', 3, 'a1')]);
  await send([{ kind: 'subagent_ended', id: 'a1', at: 4, agent: null }]);
  await send([{ kind: 'subagent_ended', id: 'a1', at: 5, agent: null }]);
  const subs = heartbeats.filter(({ agent_id }) => agent_id === 'worker-1:Explore-a1');
  expect(subs.map(({ sequence, exit }) => [sequence, exit?.reason ?? null])).toEqual([
    [1, null],
    [2, null],
    [3, 'finished'],
  ]);
  expect(subs[1]).toMatchObject({
    parent_agent_id: 'worker-1',
    task_id: null,
    labels: { agent_type: 'Explore' },
    tool_calls: [{ call_id: 'c', outcome: 'running' }],
  });
  expect(subs[1]?.labels).not.toHaveProperty('parent_task');
  expect(new Set(subs.map(({ instance_id }) => instance_id)).size).toBe(1);
  expect(subs[2]?.tool_calls).toMatchObject([{ call_id: 'c', outcome: 'abandoned' }]);
});

test('what a sub-agent uses counts for the task of its session', async () => {
  const task = { VIGIL_TASK_ID: 'TASK-1' };
  await sendRecord(recordOf([{ kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null }]), url, task);
  expect(heartbeats.map(({ task_id, labels }) => [task_id, labels])).toEqual([
    [null, { agent_type: 'Explore', parent_task: 'TASK-1' }],
    ['TASK-1', {}],
  ]);
});
