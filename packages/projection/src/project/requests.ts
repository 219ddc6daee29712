import type { QuestionAnswer, Topic } from '@vigil/events';
import { register, type Statement } from '@vigil/read-model';
import { type Handlers, journal, type Placed } from './handlers.ts';

type T = typeof Topic.agentRequest;

export const agentRequest: Handlers<T> = {
  REQUEST_OPENED: (event) => {
    const { questions, ...rest } = event.payload;
    const values = { ...rest, openedQuestions: questions, openedAt: event.occurredAt };
    return [journal(event), register(event, 'requests', 'opened', values)];
  },
  REQUEST_ANSWERED: (event) => {
    const { option, answers, by, why } = event.payload;
    const settledAnswers = answers.length === 0 ? null : answers;
    return settled(event, {
      settled: 'answered',
      settledOption: option,
      settledAnswers,
      settledBy: by,
      settledWhy: why,
    });
  },
  REQUEST_WITHDRAWN: (event) => {
    const { why, wasAnswered } = event.payload;
    const settledWhy = wasAnswered ? `the answer was not applied: ${why}` : why;
    return settled(event, { ...UNANSWERED, settled: 'withdrawn', settledWhy });
  },
  REQUEST_EXPIRED: (event) =>
    settled(event, { ...UNANSWERED, settled: 'expired', settledOption: event.payload.outcome }),
  // A flood of requests is one line.
  REQUEST_REFUSED: (event) => (event.payload.isFirst ? [journal(event)] : []),
  ANSWER_REFUSED: (event) => {
    const { requestId, option, by, reason, detail } = event.payload;
    const values = {
      ...{ requestId, refusedOption: option, refusedBy: by, refusedReason: reason, refusedDetail: detail },
      ...{ refusedCommand: event.causationId, refusedAt: event.occurredAt },
    };
    return [journal(event), register(event, 'requests', 'refused', values)];
  },
};

const UNANSWERED = { settledOption: null, settledAnswers: null, settledBy: null, settledWhy: null } as const;

type End = {
  readonly settled: string;
  readonly settledOption: string | null;
  readonly settledAnswers: readonly QuestionAnswer[] | null;
  readonly settledBy: string | null;
  readonly settledWhy: string | null;
};

const settled = (
  event: Placed<T, 'REQUEST_ANSWERED' | 'REQUEST_WITHDRAWN' | 'REQUEST_EXPIRED'>,
  end: End,
): readonly Statement[] => {
  const { requestId } = event.payload;
  const values = { requestId, ...end, settledCommand: event.causationId, settledAt: event.occurredAt };
  return [journal(event), register(event, 'requests', 'settled', values)];
};
