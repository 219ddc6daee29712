import type { GatewayContext } from '../http/answers.ts';
import { Problem } from '../http/problem.ts';
import { authorizeTerminal } from '../http/rights.ts';
import type { Principal } from '../http/tokens.ts';
import { readTerminal } from './report.ts';

/**
 * Takes the lines of a terminal while a person has a lease of it, from the runtime of its agent. Throws Problem. A replica that has not
 * read the lease yet refuses; the runtime then sends all lines again.
 */
export const acceptTerminal = async (context: GatewayContext, principal: Principal, body: unknown) => {
  const { outbox, encoding, terminalLeases, now } = context;
  const draft = readTerminal(body);
  const { agentId } = draft.payload;
  authorizeTerminal(principal, draft.payload, context);
  if (!terminalLeases.isLeased(agentId, now()))
    throw new Problem(
      409,
      'no_lease',
      `no person looks at the terminal of ${agentId}: publish it only while an answer to a poll of orders has its lease in terminals`,
      { field: 'agentId' },
    );
  await outbox.send([encoding.terminal(draft, now())]);
  return { accepted: 1 };
};
