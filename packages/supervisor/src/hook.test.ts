import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentSpec } from './agent.ts';
import type { Supervised } from './life.ts';
import { socketPath } from './socket.ts';
import { liveOn, nudge, type Stage, scriptSpec, setStage } from './testing.ts';

const vigil = fileURLToPath(new URL('../../dev/bootstrap/vigil.mjs', import.meta.url));
let stage: Stage;
let life: Supervised;
let shown = '';

beforeEach(async () => {
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  await life.end('the test is over', 0).then(() => life.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const start = async (script: string, more: Partial<AgentSpec> = {}): Promise<void> => {
  life = await liveOn(stage, scriptSpec(script, more), 400, (data) => {
    shown += data.toString();
  });
};
const receipts = () =>
  stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT').map(({ payload }) => payload);
const calls = () => stage.gateway.heartbeats.flatMap((beat) => beat.tool_calls);

/** As Claude Code runs it. */
const hook = (event: string, more: object = {}): string => {
  const input = {
    session_id: 's-1',
    hook_event_name: event,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    ...more,
  };
  return `printf '%s' '${JSON.stringify({ tool_use_id: 'call-1', ...input })}' | ${process.execPath} ${vigil} hook`;
};

/** A hook, step by step. */
const call = async () => {
  const socket = connect(socketPath(join(stage.dir, 's'), 'instance-1'));
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  await once(socket, 'connect');
  return {
    say: (word: object) => void socket.write(`${JSON.stringify(word)}\n`),
    hear: async () => JSON.parse((await lines.next()).value ?? 'null'),
    leave: () => socket.destroy(),
  };
};
const question = { hook: { takes_text: true, asks: false, turn_over: false } };
const offered = async () => {
  stage.gateway.offer(nudge());
  return until(async () => {
    const one = await call();
    one.say(question);
    expect(await one.hear()).toEqual({ hook: { texts: 1, denied: null } });
    return one;
  });
};

test('a session’s calls are in its heartbeats, and a nudge goes with a hook, once', async () => {
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

test('a hook that ends before it takes what it is offered takes nothing with it', async () => {
  await start('sleep 600', { nudge: 'hook' });
  (await offered()).leave();
  const next = await call();
  next.say(question);
  expect(await next.hear()).toEqual({ hook: { texts: 1, denied: null } });
  next.say({ hook: { takes: true } });
  expect(await next.hear()).toEqual({ hook: { texts: 1, denied: null } });
  expect(await next.hear()).toEqual({ text: 'are you still there', order_id: 'nudge-1' });
  next.say({ hook: { told: ['nudge-1'] } });
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered' }]));
  next.leave();
});

test('of a text whose hook ends without a word nobody knows whether it has arrived: it is not repeated', async () => {
  await start('sleep 600', { nudge: 'hook' });
  const first = await offered();
  first.say({ hook: { takes: true } });
  await first.hear();
  await first.hear();
  first.leave();
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'uncertain' }]));
  const next = await call();
  next.say(question);
  expect(await next.hear()).toEqual({ hook: { texts: 0, denied: null } });
  next.leave();
});

test('two hooks at once never get the same text', async () => {
  await start('sleep 600', { nudge: 'hook' });
  const [one, other] = [await offered(), await call()];
  for (const each of [one, other]) each.say({ hook: { takes: true } });
  const heard = [await one.hear(), await other.hear()].map(({ hook: { texts } }) => texts);
  expect(heard.sort()).toEqual([0, 1]);
  one.leave();
  other.leave();
});

test('a hook is nobody who listens: a nudge is not pushed to it', async () => {
  await start('sleep 600', { nudge: 'socket' });
  const [silent, asking] = [await call(), await call()];
  asking.say({ hook: { takes_text: false, asks: false, turn_over: false } });
  expect(await asking.hear()).toEqual({ hook: { texts: 0, denied: null } });
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'failed' }]));
  silent.leave();
  asking.leave();
});

test('what is only ever typed goes with no hook', async () => {
  await start('echo working; sleep 600', { nudge: 'terminal' });
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'delivered' }]));
  const one = await call();
  one.say(question);
  expect(await one.hear()).toEqual({ hook: { texts: 0, denied: null } });
  one.leave();
});

test('a call is refused after five failures in a row, and reported in the heartbeats', async () => {
  await start('sleep 600');
  const one = await call();
  const asks = { takes_text: false, asks: true, turn_over: false };
  const answer = async (word: object, outcome: string, n: number) => {
    const tool_calls = [
      { call_id: `c${n}`, tool: 'Edit', outcome, error_class: outcome === 'error' ? 'tool_error' : null },
    ];
    one.say({ hook: { ...asks, ...word }, tool_calls });
    return (await one.hear()).hook.denied;
  };
  for (let n = 0; n < 5; n += 1) {
    expect(await answer({}, 'running', n)).toBeNull();
    expect(await answer({ asks: false }, 'error', n)).toBeNull();
  }
  const denied = await answer({}, 'running', 5);
  expect(denied).toMatchObject({ breaker: 'tool_execution', failures: 5, nextAttemptAt: expect.any(Number) });
  await until(() =>
    expect(stage.gateway.heartbeats.at(-1)?.breakers).toContainEqual({
      name: 'tool_execution',
      state: 'OPEN',
      failures: 5,
      next_attempt_at: denied.nextAttemptAt,
    }),
  );
  expect(calls().map(({ call_id }) => call_id)).not.toContain('c5');
  one.leave();
});
