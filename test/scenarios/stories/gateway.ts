import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Stage } from '../stage.ts';

const { agentIntervention, agentOrder, orderReceipt } = Topic;

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
