import type { EscalationTicket, TicketFindings } from '@vigil/events';
import { spell } from '@vigil/policy';
import type { Steps } from '../history/progress/steps.ts';
import type { Due } from '../judgement/tickets.ts';

type Words = Pick<EscalationTicket, 'cause' | 'judge_reasoning' | 'suggested_action'>;

/** What was observed, why it is a ticket, and what could be done: from the same figures that made it due. */
export function ticketWords(
  due: Due,
  { sinceAccept, recent }: Steps,
  stalledMs: number | null,
  findings: TicketFindings,
  evidence: readonly string[],
): Words {
  const stall = due.at === null;
  const cause = stall ? `no step for ${spell(stalledMs ?? 0)}` : `${sinceAccept} steps without an ACCEPT`;
  const reached = stall ? 'a stall' : `${due.at} steps without an ACCEPT`;
  const verdicts = recent.length === 0 ? [] : [`last verdicts ${recent.join(', ')}`];
  const reasons = [`${due.severity} from ${reached} on: ${cause}`, ...verdicts, ...evidence];
  return {
    cause: findings.loop && !stall ? `${cause}, repeating itself` : cause,
    judge_reasoning: reasons.join('; '),
    suggested_action: actionOf(stall, findings),
  };
}

function actionOf(stall: boolean, { unrecoverable, loop }: TicketFindings): string {
  if (unrecoverable) return 'kill session: it cannot recover by itself';
  if (stall) return 'restart: nothing comes any more';
  if (loop) return 'restart: it goes round in circles';
  return 'human review: look at its last steps';
}
