import { setTimeout as pause } from 'node:timers/promises';
import type { AgentRow, CaseStory } from '@vigil/read-model';
import type { Client } from './client.ts';
import { path, type WriteOptions, type Written, writeAndShow } from './commands/control/options.ts';
import { Refusal } from './errors.ts';
import { because, describeEvent } from './render/describe.ts';
import { plain } from './render/plain.ts';
import { dashboard, endUnwell, print, untilStopped } from './terminal.ts';

/** A text by hand waits for its agent for a minute; its receipt takes a moment to be read. */
const PATIENCE_MS = 75_000;
const LOOK_MS = 500;
const APPEARS_WITHIN_MS = 3000;

export type NudgeOptions = WriteOptions & { readonly message: string };

const caseOf = ({ eventId }: Written): string => `case-${eventId}`;

export const sendNudge = async (agentId: string, { message, ...options }: NudgeOptions): Promise<void> => {
  await untilRunning(dashboard(), agentId);
  const command = { kind: 'request_step', agentId, step: 'nudge', message };
  const written = await writeAndShow(command, options, (one) => ({
    requested: `a text to ${agentId}, "${message}"`,
    outcome: options.wait ? null : `vigil case show ${caseOf(one)}`,
  }));
  if (options.wait && options.json !== true) await showOutcome(dashboard(), agentId, caseOf(written));
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

/** `reached`: in words for people. */
type Outcome = { readonly isConfirmed: boolean; readonly reached: string; readonly text: string };

const reachedBy = (outcome: unknown): string => {
  if (outcome === 'delivered' || outcome === 'answered') return 'has it';
  return outcome === 'uncertain' ? 'may have it' : 'was not reached';
};

/** Null: it is not known yet. */
const outcomeOf = ({ trail, closedAt, ending, closedWhy }: CaseStory): Outcome | null => {
  const receipt = trail.find(({ type }) => type === 'ORDER_RECEIPT');
  if (receipt !== undefined) {
    const { outcome } = receipt.payload as { readonly outcome?: unknown };
    const reached = reachedBy(outcome);
    return { isConfirmed: reached === 'has it', reached, text: describeEvent(receipt.type, receipt.payload) };
  }
  // A case that was worked through has given an order: its receipt is still to come.
  if (closedAt === null || ending === 'executed') return null;
  return {
    isConfirmed: false,
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

const showOutcome = async (client: Client, agentId: string, caseId: string): Promise<void> => {
  const stop = untilStopped();
  for (let waited = 0; waited < PATIENCE_MS && !stop.aborted; waited += LOOK_MS) {
    const found = await caseSoFar(client, caseId);
    const outcome = found === null ? null : outcomeOf(found);
    if (outcome !== null) {
      if (!outcome.isConfirmed) endUnwell();
      return print([plain(`${agentId} ${outcome.reached}: ${outcome.text}`)]);
    }
    await pause(LOOK_MS, undefined, { signal: stop }).catch(() => {});
  }
  if (!stop.aborted) endUnwell();
  print([`Nothing is known of it yet. What becomes of it: vigil case show ${caseId}`]);
};
