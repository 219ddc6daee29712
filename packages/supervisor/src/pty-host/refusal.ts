import type { Pid } from '../process/proc.ts';
import type { Hello } from './protocol.ts';

/** Terminals at once that only look on: nobody is kept from ending an agent by who watches it. */
const maxViewers = 16;

type PtyHostStatus = { readonly agentId: string; readonly supervisor: Pid | null; readonly viewers: number };

/** Why whoever says this is turned away, and what to do about it; null: they are welcome. */
export const refusalOf = (hello: Hello, { agentId, supervisor, viewers }: PtyHostStatus): string | null => {
  if (hello.as === 'supervisor')
    return supervisor === null
      ? null
      : `it is supervised by process ${supervisor.pid} already: end that one first, or leave the agent to it`;
  if (hello.writes)
    return supervisor === null
      ? `nobody supervises it now, and only its supervisor can do that: start its runtime again; where it was run by hand: vigil run --detach --name ${agentId}`
      : null;
  return viewers < maxViewers ? null : `${viewers} terminals are attached to it already: detach one of them`;
};
