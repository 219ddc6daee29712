import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { connect, overGateway } from '@vigil/sdk';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Stage } from '../stage.ts';

const { agentHealth, agentIntervention, agentObservation, agentOrder, orderReceipt } = Topic;

type Order = { readonly type: string; readonly payload: { readonly orderId: string; readonly message: string } };

/**
 * A foreign agent without a runtime of Vigil: it sends heartbeats through the gateway, and receives its nudges there.
 */
const lonely = ({ vigil }: Stage) => {
  const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
  const headers = { authorization: `Bearer ${VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object): Promise<{ orders?: readonly Order[] }> => {
    const answer = await fetch(`${VIGIL_GATEWAY_URL}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const result = await answer.json();
    if (!answer.ok) throw new Error(`the gateway refuses ${path}: ${JSON.stringify(result)}`);
    return result as never;
  };
  const began = Date.now();
  const call = { call_id: 'c1', kind: 'tool', tool: 'Bash', args_hash: '1', outcome: 'ok' };
  const calls = [{ ...call, mutating: true, started_at: began, ended_at: began }];
  let sequence = 0;
  const heartbeat = () => {
    sequence += 1;
    const who = { agent_id: 'lonely', task_id: 'T-lonely', instance_id: 'lonely.i1', sequence, interval_ms: 1000 };
    const required = { timestamp: Date.now(), phase: 'work', last_tool_call: began, progress_indicator: '' };
    const counts = { token_count: 0, error_count: 0, activity: 'working' };
    return post('/v1/heartbeats', { ...who, ...required, ...counts, tool_calls: sequence === 1 ? calls : [] });
  };
  const answer = ({ payload: { orderId } }: Order) => {
    const about = { orderId, agentId: 'lonely', instanceId: 'lonely.i1', taskId: 'T-lonely', runtimeId: 'lonely' };
    const { payload } = example(orderReceipt, 'ORDER_RECEIPT', { ...about, kind: 'nudge', outcome: 'delivered' });
    return post('/v1/receipts', { type: 'ORDER_RECEIPT', payload });
  };
  return { heartbeat, answer };
};

/**
 * No runtime can act on it. It is nudged when it polls for orders and escalated, and then people decide; it is not
 * ended.
 */
export const nudgedAtTheGateway = async (stage: Stage): Promise<void> => {
  const { all, comes, types } = stage;
  const { heartbeat, answer } = lonely(stage);
  const nudges = new Map<string, string>();
  const asked = () => all(agentIntervention, 'lonely', 'ESCALATION_TRIGGERED');
  await until(
    'people are asked twice about lonely',
    async () => {
      for (const order of (await heartbeat()).orders ?? []) {
        nudges.set(order.payload.orderId, order.payload.message);
        await answer(order);
      }
      await new Promise((resolve) => setTimeout(resolve, 800));
      return asked().length === 2;
    },
    150_000,
  );
  expect([...nudges.values()]).toEqual(Array(3).fill(expect.stringMatching(/^REMINDER: You have been working for /)));
  await holds(() =>
    expect(all(agentIntervention, 'lonely', 'CASE_OPENED')).toMatchObject([
      { note: expect.stringContaining('nudges, escalations and alerts only') },
    ]),
  );
  await holds(() =>
    expect(all(agentIntervention, 'lonely', 'STEP_SKIPPED')).toMatchObject([{ step: 'terminate', why: 'no_runtime' }]),
  );
  expect(asked()).toMatchObject([
    { onTimeout: 'terminate', options: ['allow_more_time'] },
    { onTimeout: 'hold', options: ['allow_more_time', 'pardon'] },
  ]);
  await holds(() => expect(new Set(types(agentOrder, 'lonely'))).toEqual(new Set(['NUDGE_AGENT'])));
  await comes(orderReceipt, 'lonely', 'ORDER_RECEIPT', 3);
};

type Asked = { readonly intervalMs: number; readonly intervalReason: string };

/**
 * CODITECT: while an agent is DEGRADED, its heartbeats come three times as often and its options are shown. The agent is one of the SDK: it
 * works, and saves no checkpoint until it is DEGRADED.
 */
export const watchedMoreClosely = async (stage: Stage): Promise<void> => {
  const { all, vigil, types } = stage;
  const { VIGIL_GATEWAY_URL: url, VIGIL_GATEWAY_TOKEN: token } = vigil.system.env;
  const policy = 'coditect-watched';
  const agent = connect({ agentId: 'watched', taskId: 'T-watched', policy, over: overGateway({ url, token }) });
  let calls = 0;
  const working = setInterval(() => {
    calls += 1;
    agent.report({ tokens: 10, progress: `${calls}` });
    void agent.call({ tool: 'Edit', args: { calls }, mutating: true }, () => calls);
  }, 1000);
  const requested = async (reason: string): Promise<Asked> =>
    until(`the interval of watched is that of ${reason}`, async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${url}/v1/agents/watched/orders?policy=${policy}`, { headers });
      const asked = (await answer.json()) as Asked;
      return asked.intervalReason === reason && asked;
    });
  try {
    expect(await requested('policy')).toMatchObject({ intervalMs: 6000 });
    expect(await requested('DEGRADED')).toMatchObject({ intervalMs: 2000 });
    const options = await until('the options of watched are shown', async () => {
      const { stdout } = await vigil.vigil('health', 'watched', '--json');
      const shown = stdout.startsWith('{') ? JSON.parse(stdout) : {};
      return shown.status === 'degraded' && shown.options;
    });
    expect(options).toMatchObject({
      plan: 'STUCK',
      next: { step: 'nudge', at: expect.any(String) },
      decisions: ['allow_more_time', 'force_handoff', 'terminate_and_recover'],
      checkpoint: null,
    });
    const intervals = () =>
      all(agentObservation, 'watched', 'AGENT_HEARTBEAT')
        .map(({ interval_ms }) => interval_ms)
        .filter((ms, i, before) => ms !== before[i - 1]);
    await until('the heartbeats of watched come three times as often', async () => intervals().at(-1) === 2000);
    await agent.checkpoint({ id: 'watched-1', sha256: '0'.repeat(64) });
    expect(await requested('policy')).toMatchObject({ intervalMs: 6000 });
    await until('the heartbeats of watched come as before', async () => intervals().at(-1) === 6000);
    expect(intervals().slice(-3)).toEqual([6000, 2000, 6000]);
    const states = all(agentHealth, 'watched', 'HEALTH_STATE_CHANGED').map(({ to }) => to);
    expect(states.slice(0, 2)).toEqual(['DEGRADED', 'HEALTHY']);
    expect(types(agentIntervention, 'watched')).toEqual([]);
  } finally {
    clearInterval(working);
    await agent.close({ reason: 'finished' });
  }
};
