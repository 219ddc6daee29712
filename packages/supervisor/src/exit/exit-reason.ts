import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** How an end that a person requested at the command line is recorded. */
export const restartedBy = (who: string): string => `restarted by ${who} with vigil restart`;

const WITH_STOP = 'with vigil stop';

export const stoppedBy = (who: string): string => `stopped by ${who} ${WITH_STOP}`;

/**
 * Who or what ended an agent, for the person at its terminal. `policy`: by which it is judged; null: not known. Gives null
 * where the agent ended by itself, or that person ended it.
 */
export const endedFromElsewhere = (
  { agentId }: { readonly agentId: string },
  endRequest: EndRequest | null,
  policy: string | null,
): string | null => {
  if (endRequest === null) return null;
  const { by, reason, orderId, order } = endRequest;
  if (reason === 'resource_limit') return `Vigil ended ${agentId}: ${by}`;
  if (orderId === null) return by.endsWith(WITH_STOP) ? `${agentId} was ${by}` : null;
  if (order === null) return `Vigil asked ${agentId} to hand off, and it has ended`;
  // A request by a person or by the recovery of its task has no finding.
  if (order.payload.axes.length === 0) return `Vigil ended ${agentId}, as requested: ${by}`;
  return `the plan of ${policy === null ? 'its policy' : `policy ${policy}`} ended ${agentId}: ${by}`;
};

const fileOf = (dir: string, instanceId: string): string => join(dir, 'agents', `${instanceId}.stop`);

/** A signal has no sender. `vigil stop` writes this file before it signals a supervisor in the foreground. */
export const leaveStopMarker = (dir: string, instanceId: string, who: string): void =>
  writeFileSync(fileOf(dir, instanceId), who, { mode: 0o600 });

/** The person in the marker, which is removed; null: there is no marker. */
export const takeStopMarker = (dir: string, instanceId: string): string | null => {
  const path = fileOf(dir, instanceId);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  } finally {
    rmSync(path, { force: true });
  }
};
