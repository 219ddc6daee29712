import type { EventOf, QuestionAnswer, Topic } from '@vigil/events';

type RequestEvent = EventOf<typeof Topic.agentRequest>;

/** What became of a request so far. */
export type RequestStatus =
  | { readonly kind: 'open'; readonly agentId: string; readonly heldBy: string; readonly deadlineAt: number }
  | {
      readonly kind: 'answered';
      readonly option: string;
      /** one for each question; empty: the option is the answer */
      readonly answers: readonly QuestionAnswer[];
      readonly by: string;
      readonly why: string;
    }
  | { readonly kind: 'expired'; readonly outcome: 'no_decision' | 'allow' }
  | { readonly kind: 'withdrawn'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** What a hook that waits for a request is called among the long polls. */
export const pollOf = (requestId: string): string => `request/${requestId}`;

/** Requests that are remembered, without their texts; of more, those that were seen first are forgotten. */
export const MOST_REQUESTS = 20_000;

const statusOf = (event: Exclude<RequestEvent, { readonly type: 'ANSWER_REFUSED' }>): RequestStatus => {
  switch (event.type) {
    case 'REQUEST_OPENED': {
      const { agentId, heldBy, deadlineAt } = event.payload;
      return { kind: 'open', agentId, heldBy, deadlineAt };
    }
    case 'REQUEST_ANSWERED': {
      const { option, answers, by, why } = event.payload;
      return { kind: 'answered', option, answers, by, why };
    }
    case 'REQUEST_EXPIRED':
      return { kind: 'expired', outcome: event.payload.outcome === 'allow' ? 'allow' : 'no_decision' };
    case 'REQUEST_WITHDRAWN':
      return { kind: 'withdrawn', why: event.payload.why };
    case 'REQUEST_REFUSED':
      return { kind: 'refused', why: `the agent has ${event.payload.open} open requests already` };
  }
};

/** The requests of agents to people, as the intervention service decides them. */
export const createAgentRequests = (most: number) => {
  const known = new Map<string, { readonly offset: number; readonly status: RequestStatus }>();
  return {
    /** `offset`: in the one partition of its agent; the newest counts, in any order of the calls */
    observe: (event: RequestEvent, offset: number): void => {
      if (event.type === 'ANSWER_REFUSED') return;
      const { requestId } = event.payload;
      if ((known.get(requestId)?.offset ?? -1) >= offset) return;
      known.delete(requestId);
      known.set(requestId, { offset, status: statusOf(event) });
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
    },
    /** null: nothing is known of it yet */
    find: (requestId: string): RequestStatus | null => known.get(requestId)?.status ?? null,
    /** the open ones whose hook waits at this ingress */
    openAt: (ingress: string): readonly { readonly requestId: string; readonly agentId: string }[] =>
      [...known].flatMap(([requestId, { status }]) =>
        status.kind === 'open' && status.heldBy === ingress ? [{ requestId, agentId: status.agentId }] : [],
      ),
  };
};
