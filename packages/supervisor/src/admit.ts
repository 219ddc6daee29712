import type { OrderReceiptPayload } from '@vigil/events';
import { isMidCall, overtaken } from '@vigil/sdk/progress';
import type { AgentOrder, Received } from './order.ts';
import type { Progress } from './progress.ts';

/** What the hands know of the process that an order is about. */
export type Process = {
  readonly instanceId: string;
  /** how it ended; null while it lives */
  readonly ended: string | null;
  /** the highest order number begun for this instance; -1: none */
  readonly highestNumber: number;
  /** receipts of what is done, by order id */
  readonly done: Pick<ReadonlyMap<string, OrderReceiptPayload>, 'get'>;
  readonly progress: Progress;
  /** how a text would reach it */
  readonly channel: 'socket' | 'terminal' | 'hook' | 'file';
  /** it has asked something and waits for the answer */
  readonly atQuestion: boolean;
  /** its terminal has been still for a moment: nothing is being drawn */
  readonly quiet: boolean;
  /** held by an order, until it is resumed */
  readonly paused: boolean;
  /** its last pause has ended without an order */
  readonly wentOn: boolean;
};

/** What decides whether it can be told something. */
export type Hearing = Pick<Process, 'paused' | 'channel' | 'atQuestion' | 'progress' | 'quiet'>;

export type Admission =
  | { readonly verdict: 'go' }
  | { readonly verdict: 'wait'; readonly why: string }
  | { readonly verdict: 'again'; readonly receipt: OrderReceiptPayload }
  | { readonly verdict: 'superseded' | 'expired'; readonly why: string };

const superseded = (why: string): Admission => ({ verdict: 'superseded', why });
const wait = (why: string): Admission => ({ verdict: 'wait', why });

/**
 * A text is typed, or put where the agent reads it, only between calls and while nothing is asked, and typed only at a still prompt;
 * pushed down the socket, or given to a hook that asks, it disturbs nothing. One that is held can hear nothing.
 */
export const whenReachable = (process: Hearing): Admission => {
  if (process.paused) return wait('the agent is paused');
  if (process.channel === 'socket') return { verdict: 'go' };
  if (process.channel === 'hook') return wait('no hook of its session has asked yet');
  if (process.atQuestion) return wait('the agent asks a question; nothing is typed into its answer');
  if (isMidCall(process.progress)) return wait('the agent is in the middle of a call');
  return process.quiet || process.channel === 'file' ? { verdict: 'go' } : wait('the terminal is being written to');
};

const whenDue = (order: AgentOrder, process: Process): Admission => {
  switch (order.type) {
    case 'NUDGE_AGENT':
    case 'PROBE_AGENT':
    case 'HANDOFF_AGENT':
      return whenReachable(process);
    case 'PAUSE_AGENT':
      return isMidCall(process.progress) ? wait('the agent is in the middle of a call') : { verdict: 'go' };
    case 'RESUME_AGENT':
    case 'RESET_BREAKER':
    case 'TERMINATE_AGENT':
      return { verdict: 'go' };
  }
};

/** May this order be carried out now? `now` is on the monotonic clock that `expiresAt` was taken from. */
export const admit = ({ order, expiresAt }: Received<AgentOrder>, process: Process, now: number): Admission => {
  const { orderId, instanceId, number, foldedSequence } = order.payload;
  const receipt = process.done.get(orderId);
  if (receipt) return { verdict: 'again', receipt };
  if (instanceId !== process.instanceId)
    return superseded(`meant for instance ${instanceId}; here lives ${process.instanceId}`);
  if (process.ended !== null) return superseded(`the instance has ended: ${process.ended}`);
  if (number <= process.highestNumber)
    return superseded(`number ${number} comes after number ${process.highestNumber} was begun`);
  if (now > expiresAt)
    return { verdict: 'expired', why: `its time to live was over ${Math.round(now - expiresAt)} ms ago` };
  if (order.type !== 'RESUME_AGENT' && overtaken(process.progress, order.payload))
    return superseded(`what was awaited has come since heartbeat ${foldedSequence}`);
  return whenDue(order, process);
};
