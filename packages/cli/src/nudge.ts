import { setTimeout as pause } from 'node:timers/promises';
import type { AgentRow, CaseStory, WrittenCommand } from '@vigil/read-model';
import type { Client } from './client.ts';
import { path, requestLines, type WriteOptions, writeAndShow } from './commands/control/options.ts';
import { Refusal } from './errors.ts';
import { because, describeEvent } from './render/describe.ts';
import { jsonText, plain } from './render/plain.ts';
import { dashboard, endUnwell, print, untilStopped } from './terminal.ts';

/** A text by hand waits for its agent for a minute; its receipt takes a moment to be read. */
const PATIENCE_MS = 75_000;
const LOOK_MS = 500;
const APPEARS_WITHIN_MS = 3000;

export type NudgeOptions = WriteOptions & { readonly message: string };

const caseOf = ({ eventId }: WrittenCommand): string => `case-${eventId}`;

export const sendNudge = async (agentId: string, { message, ...options }: NudgeOptions): Promise<void> => {
  await untilRunning(dashboard(), agentId);
  const command = { kind: 'request_step', agentId, step: 'nudge', message };
  const requested = `a text to ${agentId}, "${message}"`;
  if (!options.wait)
    return void (await writeAndShow(command, options, (one) => ({
      requested,
      outcome: `vigil case show ${caseOf(one)}`,
    })));
  const { by, why, json } = options;
  const written = await dashboard().post<WrittenCommand>('/v1/commands', { ...command, by, why });
  if (!json) print(requestLines(requested, null));
  const outcome = await outcomeWithin(dashboard(), caseOf(written));
  if (json) print([jsonText({ ...written, ...forPrograms(outcome) })]);
  if (outcome === null) {
    endUnwell();
    if (!json) print([`Nothing is known of it yet. What becomes of it: vigil case show ${caseOf(written)}`]);
    return;
  }
  if (outcome.reached !== 'has it') endUnwell();
  if (!json) print([plain(`${agentId} ${outcome.reached}: ${outcome.text}`)]);
};

const OUTCOMES = { 'has it': 'applied', 'may have it': 'pending', 'was not reached': 'refused' } as const;

/** The same fields as after other commands. A text that nothing confirms stays pending. */
const forPrograms = (outcome: Outcome | null) =>
  outcome === null
    ? { outcome: 'pending', reason: null }
    : { outcome: OUTCOMES[outcome.reached], reason: outcome.text };

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

/** In words for people. */
type Outcome = { readonly reached: 'has it' | 'may have it' | 'was not reached'; readonly text: string };

const reachedBy = (outcome: unknown): Outcome['reached'] => {
  if (outcome === 'delivered' || outcome === 'answered') return 'has it';
  return outcome === 'uncertain' ? 'may have it' : 'was not reached';
};

/** Null: it is not known yet. */
const outcomeOf = ({ trail, closedAt, ending, closedWhy }: CaseStory): Outcome | null => {
  const receipt = trail.find(({ type }) => type === 'ORDER_RECEIPT');
  if (receipt !== undefined) {
    const { outcome } = receipt.payload as { readonly outcome?: unknown };
    return { reached: reachedBy(outcome), text: describeEvent(receipt.type, receipt.payload) };
  }
  // A case that was worked through has given an order: its receipt is still to come.
  if (closedAt === null || ending === 'executed') return null;
  return {
    reached: 'was not reached',
    text: `its case is closed as ${ending}${because(closedWhy)}`,
  };
};

/** The case is there a moment after its command. */
const caseSoFar = async (client: Client, caseId: string): Promise<CaseStory | null> => {
  try {
    return await client.get<CaseStory>(path('cases', caseId));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** Null: nothing is known in time, or Ctrl-C has ended the wait. */
const outcomeWithin = async (client: Client, caseId: string): Promise<Outcome | null> => {
  const stop = untilStopped();
  for (let waited = 0; waited < PATIENCE_MS && !stop.aborted; waited += LOOK_MS) {
    const found = await caseSoFar(client, caseId);
    const outcome = found === null ? null : outcomeOf(found);
    if (outcome !== null) return outcome;
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  return null;
};
