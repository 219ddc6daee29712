import { once } from 'node:events';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { SessionEvent } from '@vigil/adapters/session';
import { append, type SpoolRecord, spoolFile } from '@vigil/hook/spool';
import { ended, failed, recordOf, started } from '@vigil/hook/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import { type AgentSpec, spoolOf } from '../agent/agent-spec.ts';
import type { Reach } from '../gateway/gateway-client.ts';
import { STILL_AFTER_MS } from '../output/output-reader.ts';
import { liveOn, nudge, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import { socketPath } from './agent-socket.ts';

const vigil = fileURLToPath(new URL('../../../dev/bootstrap/vigil.mjs', import.meta.url));
let stage: Stage;
let instance: Supervised;
let shown = '';

beforeEach(async () => {
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  await instance.end('the test is over', 0).then(() => instance.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec> = {}): Promise<void> => {
  instance = await liveOn(stage, scriptSpec(script, more), 400, (data) => {
    shown += data.toString();
  });
};
const receipts = () =>
  stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT').map(({ payload }) => payload);
const calls = () => stage.gateway.heartbeats.flatMap((sendHeartbeat) => sendHeartbeat.tool_calls);

/** As Claude Code runs it. */
const hook = (event: string, more: object = {}): string => {
  const input = {
    session_id: 's-1',
    hook_event_name: event,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    ...more,
  };
  const json = JSON.stringify({ tool_use_id: 'call-1', ...input });
  return `printf '%s' '${json}' | ${process.execPath} ${vigil} hook --client claude-code`;
};

const spool = () => join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', 's-1'));
/** What a hook appends before it sends its request, or is killed. */
const spooled = (events: readonly SessionEvent[], more: Partial<SpoolRecord> = {}): string => {
  const record = recordOf(events, more);
  append(spool(), record);
  return record.id;
};

/** A hook, step by step. */
const call = async () => {
  const socket = connect(socketPath(join(stage.dir, 's'), 'instance-1'));
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  await once(socket, 'connect');
  const send = (message: object) => void socket.write(`${JSON.stringify(message)}\n`);
  const receive = async () => JSON.parse((await lines.next()).value ?? 'null');
  return {
    send,
    receive,
    asks: async (events: readonly SessionEvent[], more: Partial<SpoolRecord> = {}) => {
      send({ hook: { spooled: spooled(events, more) } });
      return (await receive()).hook;
    },
    leave: () => socket.destroy(),
  };
};
const turn: SessionEvent = { kind: 'turn_started', at: 1, agent: null };
const taking = { takesText: true };
const offered = async () => {
  stage.gateway.offer(nudge());
  return until(async () => {
    const one = await call();
    expect(await one.asks([ended('c', 2)], taking)).toEqual({ texts: 1, refusal: null, question: null });
    return one;
  });
};

test('the hook that ends a turn asks for what is missing, where the policy has ask_at_stop, and once a turn', async () => {
  stage.gateway.askAtStop = { needsCheck: false };
  await start('sleep 600', { nudge: 'hook' });
  const ends = { takesText: true, continuesTurn: true };
  const stop: SessionEvent = { kind: 'turn_ended', wakes: false, at: 9, agent: null };
  const check = { checking: true, outcome: 'error', error_class: 'exit_1' } as const;
  await until(async () => {
    const one = await call();
    await one.asks([turn, ended('test', 3, check)]);
    const { question } = await one.asks([stop], ends);
    expect(question).toContain('you are about to stop, and your last check failed.');
  });
  const continued = await call();
  expect(await continued.asks([stop], { takesText: false, continuesTurn: false })).toMatchObject({ question: null });
  const later = await call();
  await later.asks([turn]);
  expect(await later.asks([stop], ends), 'nothing new since the question').toMatchObject({ question: null });
  await later.asks([turn, ended('test again', 10, check)]);
  expect((await later.asks([stop], ends)).question).toContain('your last check failed.');
});

test('a session’s calls are in its heartbeats, and a nudge is delivered with a hook, once', async () => {
  const go = join(stage.dir, 'go');
  const answered = hook('PostToolUse', { tool_response: { stdout: 'a' } });
  await start(
    `${hook('PreToolUse')}; echo begun; while [ ! -e ${go} ]; do sleep 0.05; done
     out=; while [ -z "$out" ]; do out=$(${answered}); sleep 0.1; done; echo "first=$out"
     for i in 1 2; do echo "later=$(${answered})"; done; echo over; sleep 600`,
    { nudge: 'hook' },
  );
  await until(() => expect(shown).toContain('begun'));
  await until(() => expect(calls()).toMatchObject([{ call_id: 'call-1', tool: 'Bash', outcome: 'running' }]));
  stage.gateway.offer(nudge());
  writeFileSync(go, '');
  await until(() => expect(shown).toContain('over'));
  expect(shown).toContain(
    'first={"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"are you still there"}}',
  );
  expect(shown.match(/later=\s/g)).toHaveLength(2);
  expect(shown.match(/are you still there/g)).toHaveLength(1);
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]));
  await until(() => expect(calls().at(-1)).toMatchObject({ call_id: 'call-1', outcome: 'ok' }));
  expect(stage.gateway.heartbeats.at(-1)?.activity).toBe('working');
});

test('an agent that is to be ended learns it with its next hook call, once: it is asked for a checkpoint and to shut down', async () => {
  await start('trap "" TERM; while :; do sleep 0.1; done', { nudge: 'hook' });
  await (await call()).asks([turn]);
  instance.offer(terminate({ axes: ['absence'], reason: 'no call for 3 min', graceMs: 30_000 }), 60_000);
  const first = await until(async () => {
    const one = await call();
    expect((await one.asks([ended('c', 2)], taking)).texts).toBe(1);
    return one;
  });
  first.leave();
  const second = await call();
  expect((await second.asks([ended('d', 3)], taking)).texts).toBe(1);
  second.send({ hook: { takes: true } });
  expect((await second.receive()).hook.texts).toBe(1);
  const { text, order_id } = await second.receive();
  expect(text).toContain('Save a checkpoint within 30 s');
  const requests = text.split('\n').flatMap((line: string) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  expect(requests).toEqual([
    { type: 'checkpoint_request', reason: 'no call for 3 min', deadline_ms: 30_000 },
    { type: 'shutdown_request', reason: 'stall_detected' },
  ]);
  second.send({ hook: { printed: [order_id] } });
  const third = await call();
  expect((await third.asks([ended('e', 4)], taking)).texts).toBe(0);
  for (const one of [second, third]) one.leave();
});

test('an agent whose texts are typed learns its end from a hook, too, and no reminder', async () => {
  await start('trap "" TERM; while :; do sleep 0.1; done', { nudge: 'terminal' });
  await (await call()).asks([turn]);
  instance.offer(nudge(), 60_000);
  expect((await (await call()).asks([ended('b', 1)], taking)).texts).toBe(0);
  instance.offer(terminate({ axes: ['absence'], graceMs: 30_000 }), 60_000);
  const one = await until(async () => {
    const asking = await call();
    expect((await asking.asks([ended('c', 2)], taking)).texts).toBe(1);
    return asking;
  });
  one.send({ hook: { takes: true } });
  await one.receive();
  expect((await one.receive()).text).toContain('{"type":"shutdown_request","reason":"stall_detected"}');
  one.leave();
});

test('an end without a grace is announced to no hook: a turn that ends is not made to continue', async () => {
  stage = { ...stage, killAfterMs: 60_000 };
  const over = join(stage.dir, 'over');
  await start(`trap "" TERM; while [ ! -e ${over} ]; do sleep 0.1; done`, { nudge: 'hook' });
  await (await call()).asks([turn]);
  instance.offer(terminate({ axes: ['absence'], graceMs: 0 }), 60_000);
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.activity).toBe('exiting'));
  const one = await call();
  expect((await one.asks([ended('c', 2)], { ...taking, continuesTurn: true })).texts).toBe(0);
  one.leave();
  writeFileSync(over, '');
});

test('a hook that ends before it takes the offered texts leaves them for the next', async () => {
  await start('sleep 600', { nudge: 'hook' });
  (await offered()).leave();
  const next = await call();
  expect(await next.asks([ended('d', 3)], taking)).toEqual({ texts: 1, refusal: null, question: null });
  next.send({ hook: { takes: true } });
  expect(await next.receive()).toEqual({ hook: { texts: 1, refusal: null, question: null } });
  expect(await next.receive()).toEqual({ text: 'are you still there', order_id: 'nudge-1' });
  next.send({ hook: { printed: ['nudge-1'] } });
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]));
  next.leave();
});

test('of a text whose hook ends without a word it is unknown whether it has arrived: it is not repeated', async () => {
  await start('sleep 600', { nudge: 'hook' });
  const first = await offered();
  first.send({ hook: { takes: true } });
  await first.receive();
  await first.receive();
  first.leave();
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'uncertain' }]));
  const next = await call();
  expect(await next.asks([ended('d', 3)], taking)).toEqual({ texts: 0, refusal: null, question: null });
  next.leave();
});

test('two hooks at once never get the same text', async () => {
  await start('sleep 600', { nudge: 'hook' });
  const [one, other] = [await offered(), await call()];
  for (const each of [one, other]) each.send({ hook: { takes: true } });
  const counts = [await one.receive(), await other.receive()].map(({ hook: { texts } }) => texts);
  expect(counts.sort()).toEqual([0, 1]);
  one.leave();
  other.leave();
});

test('a hook does not listen: a nudge is not pushed to it', async () => {
  await start('sleep 600', { nudge: 'socket' });
  const asking = await call();
  expect(await asking.asks([turn])).toEqual({ texts: 0, refusal: null, question: null });
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'failed' }]));
  asking.leave();
});

test('a hook that cannot carry a text, or whose record is not in the spool, is offered none', async () => {
  await start('sleep 600', { nudge: 'hook' });
  (await offered()).leave();
  const one = await call();
  expect(await one.asks([ended('d', 3)], { takesText: false })).toEqual({ texts: 0, refusal: null, question: null });
  one.send({ hook: { spooled: 'another' } });
  expect(await one.receive()).toEqual({ hook: { texts: 0, refusal: null, question: null } });
  one.leave();
});

test('a call is refused after five failures in a row, reported as refused, and the breaker with it', async () => {
  await start('sleep 600');
  const one = await call();
  for (let n = 0; n < 5; n += 1) {
    expect((await one.asks([started(`c${n}`, n)])).refusal).toBeNull();
    expect((await one.asks([failed(`c${n}`, n)])).refusal).toBeNull();
  }
  expect((await one.asks([started('c5', 5)])).refusal).toContain('tool_execution is open after 5 failed calls');
  await until(() =>
    expect(stage.gateway.heartbeats.at(-1)?.breakers).toContainEqual(
      expect.objectContaining({ name: 'tool_execution', state: 'OPEN', failures: 5 }),
    ),
  );
  await until(() => expect(calls()).toContainEqual(expect.objectContaining({ call_id: 'c5', outcome: 'refused' })));
  one.leave();
});

test('the record of a hook that was killed before it asked is reported all the same', async () => {
  await start('sleep 600');
  spooled([turn, started('c', 2)]);
  await until(() => expect(calls()).toMatchObject([{ call_id: 'c', outcome: 'running' }]));
  spooled([ended('c', 3)]);
  await until(() => expect(calls().at(-1)).toMatchObject({ call_id: 'c', outcome: 'ok' }));
});

test('what hooks have appended when the agent ends is in its last heartbeat', async () => {
  const go = join(stage.dir, 'go');
  await start(`while [ ! -e ${go} ]; do sleep 0.02; done`);
  const all = Array.from({ length: 60 }, (_, n) => `c-${n}`);
  for (const id of all) spooled([ended(id, 2)]);
  writeFileSync(go, '');
  await instance.ended;
  expect(new Set(calls().map(({ call_id }) => call_id))).toEqual(new Set(all));
  expect(existsSync(spoolOf(stage.dir, 'instance-1'))).toBe(false);
});

test('the end of a call is reported at once, however long the interval is', async () => {
  await start('sleep 600', { intervalMs: 3_600_000 });
  await until(() => expect(stage.gateway.heartbeats).toHaveLength(1));
  const one = await call();
  await one.asks([turn]);
  for (let n = 0; n < 5; n += 1) {
    await one.asks([started(`c${n}`, n)]);
    await one.asks([ended(`c${n}`, n, { outcome: 'error', error_class: 'exit_1' })]);
    await until(() => expect(calls().at(-1)).toMatchObject({ call_id: `c${n}`, outcome: 'error' }));
  }
  one.leave();
});

test('a wait and its end are reported at once', async () => {
  await start('sleep 600', { intervalMs: 3_600_000 });
  const one = await call();
  await one.asks([turn, started('c', 2)]);
  const waiting = { kind: 'permission', text: 'rm -rf build', since: 3 } as const;
  await one.asks([{ kind: 'wait_started', waiting, call: null, at: 3, agent: null }]);
  await until(() =>
    expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'awaiting_input', waiting_for: waiting }),
  );
  await one.asks([ended('c', 4)]);
  await until(() => expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'working', waiting_for: null }));
  one.leave();
});

test('while a session reports its turns, the drawing of its client does not count as activity', async () => {
  const [go, after] = [join(stage.dir, 'go'), join(stage.dir, 'after')];
  await start(
    `echo before; while [ ! -e ${go} ]; do sleep 0.02; done; echo 'API error - retrying'; while [ ! -e ${after} ]; do sleep 0.02; done; echo after; sleep 600`,
  );
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.output?.last_output_at).toEqual(expect.any(Number)));
  const seen = stage.gateway.heartbeats.at(-1)?.output?.last_output_at;
  const one = await call();
  await one.asks([turn]);
  writeFileSync(go, '');
  await until(() => expect(shown).toContain('retrying'));
  const { length } = stage.gateway.heartbeats;
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(length + 2));
  expect(stage.gateway.heartbeats.at(-1)).toMatchObject({
    turn: { open: true },
    output: { last_output_at: seen },
    client: { name: 'claude-code', session_id: 's-1' },
  });
  await one.asks([{ kind: 'session_ended', continues: false, at: 5, agent: null }]);
  writeFileSync(after, '');
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.output?.last_output_at).toBeGreaterThan(seen ?? 0));
  one.leave();
});

test('the words in the output of a session that reports its turns do not count as its limit, question or error', async () => {
  const go = join(stage.dir, 'go');
  const words = "printf 'error: rate limit\\nerror: rate limit\\n<promise>COMPLETE</promise>\\nOverwrite? '";
  await start(`while [ ! -e ${go} ]; do sleep 0.02; done; ${words}; sleep 600`);
  const one = await call();
  await one.asks([turn, started('c', 2)]);
  writeFileSync(go, '');
  const last = () => stage.gateway.heartbeats.at(-1);
  const matched = () => stage.gateway.heartbeats.flatMap(({ output }) => output?.matched_patterns ?? []);
  await until(() => expect(matched().map(({ kind }) => kind)).toContain('completion'));
  const isStillFrom = Math.max(...matched().map(({ at }) => at)) + 2 * STILL_AFTER_MS;
  await until(() => expect(last()?.timestamp).toBeGreaterThan(isStillFrom));
  expect(last()).toMatchObject({ activity: 'working', waiting_for: null, output: { repeated_error: null } });
  expect(matched().map(({ kind }) => kind)).not.toContain('rate_limit');
  one.leave();
});

test('a headless client whose hooks report no limit is limited where its output shows a limit', async () => {
  const gemini = join(stage.dir, 'gemini');
  symlinkSync('/bin/sh', gemini);
  const go = join(stage.dir, 'go');
  const script = `while [ ! -e ${go} ]; do sleep 0.02; done; echo 'Attempt 1 failed with status 429'; sleep 600`;
  await start('', { command: gemini, args: ['-c', script, '-p'] });
  append(
    join(spoolOf(stage.dir, 'instance-1'), spoolFile('gemini-cli', 's-1')),
    recordOf([turn], { client: 'gemini-cli' }),
  );
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.turn).toMatchObject({ open: true }));
  writeFileSync(go, '');
  const matched = () => stage.gateway.heartbeats.flatMap(({ output }) => output?.matched_patterns ?? []);
  await until(() => expect(matched().map(({ kind }) => kind)).toContain('rate_limit'));
});

test('a session that runs within another reports its calls, and ends nothing of it', async () => {
  await start('sleep 600');
  const one = await call();
  await one.asks([turn, started('outer', 2)]);
  const inner = { session: 's-2' };
  append(
    join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', 's-2')),
    recordOf([turn, ended('inner', 3)], inner),
  );
  append(
    join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', 's-2')),
    recordOf([{ kind: 'turn_ended', wakes: false, at: 4, agent: null }], inner),
  );
  await until(() => expect(calls()).toContainEqual(expect.objectContaining({ call_id: 'inner', outcome: 'ok' })));
  expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'working', client: { session_id: 's-1' } });
  one.leave();
});

test('a session that follows another in the same process takes its place', async () => {
  await start('sleep 600');
  const one = await call();
  await one.asks([turn, { kind: 'session_ended', continues: true, at: 2, agent: null }]);
  const next = { session: 's-2' };
  append(
    join(spoolOf(stage.dir, 'instance-1'), spoolFile('claude-code', 's-2')),
    recordOf(
      [
        { kind: 'session_started', source: 'clear', at: 3, agent: null },
        { ...turn, at: 4 },
      ],
      next,
    ),
  );
  await until(() =>
    expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'working', client: { session_id: 's-2' } }),
  );
  one.leave();
});

test('a sub-agent is an agent of its own until its end, which is reported once', async () => {
  await start('sleep 600');
  const one = await call();
  await one.asks([turn, { kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null }]);
  await one.asks([started('c', 3, 'a1')]);
  const heartbeats = () => stage.gateway.heartbeats.filter(({ agent_id }) => agent_id === 'worker-1:Explore-a1');
  await until(() =>
    expect(heartbeats().at(-1)).toMatchObject({
      parent_agent_id: 'worker-1',
      task_id: null,
      runtime_id: 'run-1',
      labels: { agent_type: 'Explore' },
      activity: 'working',
      output: null,
    }),
  );
  await until(() => expect(heartbeats().flatMap(({ tool_calls }) => tool_calls)).toMatchObject([{ call_id: 'c' }]));
  const instanceId = heartbeats()[0]?.instance_id ?? '';
  stage.gateway.offer(nudge({ orderId: 'nudge-2', agentId: 'worker-1:Explore-a1', instanceId }));
  await until(() => expect(receipts()).not.toEqual([]));
  await one.asks([{ kind: 'subagent_ended', id: 'a1', at: 4, agent: null }]);
  await one.asks([{ kind: 'subagent_ended', id: 'a1', at: 5, agent: null }]);
  const exits = () => stage.gateway.reports.filter(({ type }) => type === 'AGENT_EXITED').map(({ payload }) => payload);
  await until(() =>
    expect(exits()).toMatchObject([{ agentId: 'worker-1:Explore-a1', instanceId, taskId: null, reason: 'finished' }]),
  );
  const { length } = heartbeats();
  await instance.end('over', 0).then(() => instance.settled);
  await until(() => expect(exits()).toHaveLength(2));
  expect(exits()[1]).toMatchObject({ agentId: 'worker-1' });
  // An order that is offered twice is answered twice, with the same receipt.
  expect(new Set(receipts().map((receipt) => JSON.stringify(receipt))).size).toBe(1);
  expect(receipts()[0]).toMatchObject({ orderId: 'nudge-2', outcome: 'failed' });
  expect(heartbeats()).toHaveLength(length);
  one.leave();
});

test('a sub-agent that is at work when its process ends, ends with it', async () => {
  await start('sleep 600');
  spooled([turn, { kind: 'subagent_started', id: 'a1', type: null, at: 2, agent: null }]);
  await until(() => expect(stage.gateway.heartbeats.map(({ agent_id }) => agent_id)).toContain('worker-1:subagent-a1'));
  await instance.end('over', 0).then(() => instance.settled);
  const exits = () => stage.gateway.reports.filter(({ type }) => type === 'AGENT_EXITED').map(({ payload }) => payload);
  await until(() =>
    expect(exits()).toContainEqual(expect.objectContaining({ agentId: 'worker-1:subagent-a1', reason: 'explicit' })),
  );
});

test('that the heartbeats of a sub-agent fail is logged, and is not reported as if the agent itself were not watched', async () => {
  const [reached, logged]: [string[], string[]] = [[], []];
  const { gateway } = stage.deps;
  const refused: typeof gateway.sendHeartbeat = (sendHeartbeat, signal) =>
    sendHeartbeat.parent_agent_id === null
      ? gateway.sendHeartbeat(sendHeartbeat, signal)
      : Promise.reject(new Error('refused'));
  const deps = {
    ...stage.deps,
    gateway: { ...gateway, sendHeartbeat: refused },
    onReach: (agentId: string, reach: Reach) => void reached.push(`${agentId} ${reach.kind}`),
    logger: (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  instance = await liveOn({ ...stage, deps }, scriptSpec('sleep 600'), 400, () => {});
  spooled([turn, { kind: 'subagent_started', id: 'a1', type: 'Explore', at: 2, agent: null }]);
  const why = { agentId: 'worker-1:Explore-a1', why: 'refused' };
  await until(() => expect(logged).toContain(`a sub-agent is not watched ${JSON.stringify(why)}`));
  expect(reached).toEqual(['worker-1 watched']);
});

test('when the client of a session is killed, the question of the wrapper that started it counts again', async () => {
  const [claude, go] = [join(stage.dir, 'claude'), join(stage.dir, 'go')];
  symlinkSync('/bin/sleep', claude);
  await start(
    `${claude} 600 & while [ ! -e ${go} ]; do sleep 0.02; done; kill -9 $!; wait $!; printf 'Start it again? [y/n] '; read answer`,
  );
  const last = () => stage.gateway.heartbeats.at(-1);
  spooled([turn, started('c', 2), { kind: 'subagent_started', id: 'a1', type: null, at: 2, agent: null }]);
  await until(() => expect(last()?.turn).toMatchObject({ open: true }));
  // The process of the client is seen at a look between two heartbeats.
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(8));
  writeFileSync(go, '');
  const ofAgent = () => stage.gateway.heartbeats.findLast(({ parent_agent_id: parent }) => parent === null);
  await until(() =>
    expect(ofAgent()).toMatchObject({
      activity: 'awaiting_input',
      turn: null,
      waiting_for: { kind: 'question', text: expect.stringContaining('Start it again?') },
    }),
  );
  expect(calls().filter(({ call_id }) => call_id === 'c')).toMatchObject([
    { outcome: 'running' },
    { outcome: 'abandoned' },
  ]);
  const exits = () => stage.gateway.reports.filter(({ type }) => type === 'AGENT_EXITED').map(({ payload }) => payload);
  await until(() => expect(exits()).toMatchObject([{ agentId: 'worker-1:subagent-a1' }]));
});

const askingPermission = (tool = 'Bash') =>
  hook('PermissionRequest', { tool_name: tool, tool_input: { command: 'rm -rf build' } });
const requestsOf = () => stage.gateway.requests;

test('a permission request of a hook reaches people, and their answer is printed as the client reads it', async () => {
  await start(`${askingPermission()}; echo; echo over; sleep 600`);
  await until(() => expect(requestsOf().length).toBeGreaterThan(1));
  expect(requestsOf()[0]).toMatchObject({
    ...{ agentId: 'worker-1', instanceId: 'instance-1', client: 'claude-code', kind: 'permission', tool: 'Bash' },
    text: 'Bash: rm -rf build',
  });
  expect(shown).not.toContain('over');
  stage.gateway.decision = { kind: 'answered', option: 'deny', by: 'ada', why: 'keep it' };
  await until(() => expect(shown).toContain('over'));
  expect(shown).toContain('"decision":{"behavior":"deny","message":"ada: keep it"}');
  expect(new Set(requestsOf().map(({ requestId }) => requestId)).size).toBe(1);
  expect(stage.gateway.withdrawn).toEqual([]);
});

test('the answer to a permission request ends the wait of its session at once', async () => {
  await start(`${askingPermission()}; sleep 600`, { intervalMs: 3_600_000 });
  await until(() => expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'awaiting_input' }));
  stage.gateway.decision = { kind: 'answered', option: 'allow', by: 'ada', why: 'go on' };
  await until(() => expect(stage.gateway.heartbeats.at(-1)).toMatchObject({ activity: 'working', waiting_for: null }));
});

test('the request of a hook that goes before it is answered is withdrawn, and no other', async () => {
  await start('sleep 600');
  const asks = (id: string) => ({ id, client: 'codex', kind: 'permission', tool: null, text: 'x', choices: [] });
  const [one, other] = [await call(), await call()];
  one.send({ hook: { asks: asks('r-1') } });
  other.send({ hook: { asks: asks('r-2') } });
  const waiting = (id: string) => requestsOf().filter(({ requestId }) => requestId === id).length > 1;
  await until(() => expect([waiting('r-1'), waiting('r-2')]).toEqual([true, true]));
  one.leave();
  await until(() => expect(stage.gateway.withdrawn).toMatchObject([{ requestId: 'r-1', agentId: 'worker-1' }]));
  stage.gateway.decision = { kind: 'answered', option: 'allow', by: 'ada', why: 'go on' };
  expect(await other.receive()).toEqual({ decided: { choice: 'allow', answers: [], why: 'ada: go on' } });
  expect(stage.gateway.withdrawn).toHaveLength(1);
});

test('where the gateway is away, the hook of a permission request prints nothing', async () => {
  stage.gateway.away = true;
  await start(`${askingPermission()}; echo over; sleep 600`);
  await until(() => expect(shown).toContain('over'));
  expect(shown).not.toContain('decision');
});
