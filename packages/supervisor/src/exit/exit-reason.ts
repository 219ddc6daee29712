import type { ExitReason } from '@vigil/events';
import type { Terminate } from '../orders/order.ts';
import type { Exit } from '../terminal/terminal.ts';

/** Who requested the end, and why. `orderId`: of the order that requested it; a terminate order is carried out here. */
export type EndRequest = {
  readonly by: string;
  readonly reason: 'explicit' | 'resource_limit';
  readonly orderId: string | null;
  readonly order: Terminate | null;
};

export const describeExit = ({ code, signal }: Exit): string => {
  if (signal) return `ended by ${signal}`;
  return code === null ? 'the process that held its terminal died, and it has been ended' : `exited with code ${code}`;
};

/** A requested end has the reason of its request, with any exit code. */
export const reasonOf = (exit: Exit, endRequest: EndRequest | null, hasCompleted: boolean): ExitReason => {
  if (endRequest !== null) return endRequest.reason;
  return exit.code === 0 && hasCompleted ? 'finished' : 'crashed';
};

/**
 * Asked to hand off, it stopped by itself with code 0: the order caused that, unless the agent reported that its work is done.
 * After any other end, it has crashed.
 */
export const handedOff = (
  { code }: Exit,
  orderId: string | null,
  monitor: { readonly hasCompleted: boolean; readonly reportsFinished: boolean },
): EndRequest | null => {
  if (orderId === null || code !== 0 || monitor.hasCompleted || monitor.reportsFinished) return null;
  return { by: 'it was asked to hand off', reason: 'explicit', orderId, order: null };
};
