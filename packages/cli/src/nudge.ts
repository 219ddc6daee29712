import { setTimeout as pause } from 'node:timers/promises';
import type { AgentRow, Outcome } from '@vigil/read-model';
import type { Client } from './client.ts';
import {
  followShown,
  path,
  requestLines,
  sent,
  shownBy,
  type WriteOptions,
  writeAndShow,
} from './commands/control/options.ts';
import { Refusal } from './errors.ts';
import { because, describeEvent } from './render/describe.ts';
import { outcomeLine } from './render/outcome.ts';
import { jsonText, plain, plainAll } from './render/plain.ts';
import { dashboard, endUnwell, print, view } from './terminal.ts';

const LOOK_MS = 500;
const APPEARS_WITHIN_MS = 3000;

export type NudgeOptions = WriteOptions & { readonly message: string };

export const sendNudge = async (agentId: string, { message, ...options }: NudgeOptions): Promise<void> => {
  await untilRunning(dashboard(), agentId);
  const { by, why, json, wait } = options;
  const command = { kind: 'request_step', agentId, step: 'nudge', message };
  const requested = `a text to ${agentId}, "${message}"`;
  if (!wait)
    return void (await writeAndShow(command, options, ({ eventId }) => ({ requested, outcome: shownBy(eventId) })));
  const written = await sent({ ...command, by, why }, json);
  if (!json) print(requestLines(requested, null));
  const followed = await followShown(written.eventId, json);
  const { became } = followed;
  const delivery = deliveryOf(became);
  const outcome = delivery?.reached === 'may have it' ? 'pending' : became.outcome;
  if (outcome !== 'applied') endUnwell();
  if (json) return print([jsonText({ ...written, ...became, outcome, reason: delivery?.text ?? became.reason })]);
  const line = delivery && `${agentId} ${delivery.reached}: ${delivery.text}`;
  print([line === null ? outcomeLine(view(), plainAll(followed), [shownBy(written.eventId)]) : plain(line)]);
};

/** In words for people. */
type Delivery = { readonly reached: 'has it' | 'may have it' | 'was not reached'; readonly text: string };

const reachedBy = (outcome: unknown): Delivery['reached'] => {
  if (outcome === 'delivered' || outcome === 'answered') return 'has it';
  return outcome === 'uncertain' ? 'may have it' : 'was not reached';
};

/** What the receipt of a text reports; null: it has no receipt, or waits for another one. */
const deliveryOf = ({ outcome, events }: Outcome): Delivery | null => {
  if (outcome === 'pending') return null;
  const receipt = events.findLast(({ type }) => type === 'ORDER_RECEIPT');
  if (receipt === undefined) return null;
  const { outcome: reported } = receipt.payload as { readonly outcome?: unknown };
  return { reached: reachedBy(reported), text: describeEvent(receipt.type, receipt.payload) };
};

const checkRunning = async (client: Client, agentId: string): Promise<void> => {
  const { state, endReason } = await client.get<AgentRow>(path('agents', agentId));
  if (state !== 'TERMINATED') return;
  throw new Refusal(`${agentId} has ended${because(endReason)}; only a running agent can receive a text.`);
};

/** Throws Refusal where the agent does not run. One that has just started may not be in the read model yet. */
const untilRunning = async (client: Client, agentId: string): Promise<void> => {
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      await checkRunning(client, agentId);
      return;
    } catch (error) {
      if (!(error instanceof Refusal) || waited >= APPEARS_WITHIN_MS) throw error;
      await pause(LOOK_MS);
    }
  }
};
