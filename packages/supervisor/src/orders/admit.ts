import type { OrderReceiptPayload } from '@vigil/events';
import { isMidCall, overtaken } from '@vigil/sdk/progress';
import type { Progress } from '../heartbeat/progress.ts';
import type { TypingDecision } from '../typing/decide.ts';
import { type AgentOrder, orderRules, type Received } from './order.ts';

/** The state of the process that an order addresses. */
export type ProcessState = {
  readonly instanceId: string;
  /** how it ended; null while it runs */
  readonly ended: string | null;
  readonly progress: Progress;
  /** how a text would reach it */
  readonly channel: 'socket' | 'terminal' | 'hook' | 'file';
  /** it has asked something and waits for the answer */
  readonly atQuestion: boolean;
  /** its terminal has been still for a moment: nothing is being drawn */
  readonly quiet: boolean;
  /** whether a text may be typed at its terminal now */
  readonly typing: TypingDecision;
  /** another text is being typed */
  readonly isBeingTypedAt: boolean;
  /** held by an order, until it is resumed */
  readonly paused: boolean;
  /** its last pause has ended without an order */
  readonly resumedByItself: boolean;
};

/** With its orders. */
export type Process = ProcessState & {
  /** the highest order number begun for this instance; -1: none */
  readonly highestNumber: number;
  /** receipts of executed orders, by order id */
  readonly done: Pick<ReadonlyMap<string, OrderReceiptPayload>, 'get'>;
};

export type Admission =
  | { readonly kind: 'go' }
  | { readonly kind: 'wait'; readonly why: string }
  | { readonly kind: 'again'; readonly receipt: OrderReceiptPayload }
  | { readonly kind: 'superseded' | 'expired' | 'failed'; readonly why: string };

const superseded = (why: string): Admission => ({ kind: 'superseded', why });
const wait = (why: string): Admission => ({ kind: 'wait', why });

/** A line is typed at a still terminal only. A client at its prompt receives a paste, also while its screen draws. */
const whenTyped = ({ typing, quiet, isBeingTypedAt }: ProcessState): Admission => {
  if (isBeingTypedAt) return wait('another text is being typed');
  switch (typing.kind) {
    case 'never':
      return { kind: 'failed', why: typing.why };
    case 'wait':
      return wait(typing.why);
    case 'line':
      return quiet ? { kind: 'go' } : wait('the terminal is being written to');
    case 'paste':
      return { kind: 'go' };
  }
};

/**
 * A text is typed, or put where the agent reads it, only between calls and without an open question, and typed only
 * if `decideTyping` allows it. A text over the socket, or for a hook, disturbs nothing. A paused agent can receive
 * none.
 */
export const whenReachable = (process: ProcessState): Admission => {
  if (process.paused) return wait('the agent is paused');
  if (process.channel === 'socket') return { kind: 'go' };
  if (process.channel === 'hook') return wait('no hook of its session has asked yet');
  if (process.channel === 'terminal' && process.typing.kind === 'never')
    return { kind: 'failed', why: process.typing.why };
  if (process.atQuestion) return wait('the agent asks a question; nothing is typed into its answer');
  if (isMidCall(process.progress)) return wait('the agent is in the middle of a call');
  return process.channel === 'file' ? { kind: 'go' } : whenTyped(process);
};

const whenDue = (order: AgentOrder, process: Process): Admission => {
  switch (orderRules[order.type].begins) {
    case 'when_reachable':
      return whenReachable(process);
    case 'between_calls':
      return isMidCall(process.progress) ? wait('the agent is in the middle of a call') : { kind: 'go' };
    case 'at_any_time':
      return { kind: 'go' };
  }
};

/**
 * An agent that waits for a person does not hang. It is neither interrupted nor resumed, and a text that it could not
 * receive meanwhile does not count as unanswered.
 */
const takesSilenceForHang = (order: AgentOrder, isExpired: boolean): boolean => {
  const { supposesHang } = orderRules[order.type];
  return supposesHang === 'always' || (supposesHang === 'when_expired' && isExpired);
};

/** A reset changes nothing but a breaker, so it takes no other order's place in the row, and none takes its. */
export const isNumbered = ({ type }: AgentOrder): boolean => type !== 'RESET_BREAKER';

/** May this order be carried out now? `now` is on the monotonic clock that `expiresAt` was taken from. */
export const admit = ({ order, expiresAt }: Received<AgentOrder>, process: Process, now: number): Admission => {
  const { orderId, instanceId, number, foldedSequence } = order.payload;
  const receipt = process.done.get(orderId);
  if (receipt) return { kind: 'again', receipt };
  if (instanceId !== process.instanceId)
    return superseded(`meant for instance ${instanceId}; the instance here is ${process.instanceId}`);
  if (process.ended !== null) return superseded(`the instance has ended: ${process.ended}`);
  if (isNumbered(order) && number <= process.highestNumber)
    return superseded(`number ${number} comes after number ${process.highestNumber} was begun`);
  if (process.atQuestion && takesSilenceForHang(order, now > expiresAt))
    return superseded('the agent waits for a person: its silence is not a hang');
  if (now > expiresAt)
    return { kind: 'expired', why: `its time to live was over ${Math.round(now - expiresAt)} ms ago` };
  if (order.type !== 'RESUME_AGENT' && overtaken(process.progress, order.payload))
    return superseded(`what was awaited has come since heartbeat ${foldedSequence}`);
  return whenDue(order, process);
};
