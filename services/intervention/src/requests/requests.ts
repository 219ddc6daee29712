import {
  type AskedQuestion,
  answersText,
  askedQuestion,
  type BodyOf,
  type Draft,
  type EventOf,
  mistakeInAnswers,
  type PayloadOf,
  type PolicyRef,
  Topic,
} from '@vigil/events';
import { type AtRest, type Decider, NEVER } from '@vigil/stream';

type Input = EventOf<typeof Topic.handleRequest | typeof Topic.agentHealth>;
type Opening = Extract<Input, { readonly type: 'OPEN_REQUEST' }>;
type Answer = Extract<Input, { readonly type: 'ANSWER_REQUEST' }>;
type Withdrawal = Extract<Input, { readonly type: 'WITHDRAW_REQUEST' }>;
export type RequestDraft = Draft<typeof Topic.agentRequest>;
type Refusal = PayloadOf<typeof Topic.agentRequest, 'ANSWER_REFUSED'>['reason'];

/** A request with a waiting hook, without its text. */
type OpenRequest = Pick<
  PayloadOf<typeof Topic.agentRequest, 'REQUEST_OPENED'>,
  'requestId' | 'agentId' | 'instanceId' | 'taskId' | 'kind' | 'deadlineAt' | 'atDeadline' | 'heldBy'
> & {
  /** their names */
  readonly choices: readonly string[];
  readonly questions: readonly AskedQuestion[];
  readonly correlationId: string;
  readonly policy: PolicyRef | null;
};

/** A request that is over. `detail`: how, for the refusal of a later answer. `at`: epoch milliseconds */
type SettledRequest = Omit<OpenRequest, 'deadlineAt' | 'atDeadline' | 'heldBy' | 'choices' | 'questions'> & {
  readonly how: 'answered' | 'expired' | 'withdrawn';
  readonly detail: string;
  readonly at: number;
};

/** The requests of one agent. */
export type RequestsState = {
  readonly open: readonly OpenRequest[];
  /** the newest ones that are over */
  readonly settled: readonly SettledRequest[];
  /** a request was refused, and there has been no room since */
  readonly isFull: boolean;
};

/** Open requests of one agent. */
export const MOST_OPEN = 30;
/** After a refusal there is room again at this number. */
const ROOM_AT = MOST_OPEN / 2;
const MOST_SETTLED = 30;
/** For how long the refusal of a late answer names the end of its request, milliseconds. */
const KEPT_MS = 3_600_000;

const initial: RequestsState = { open: [], settled: [], isFull: false };

const draftOf = (
  { correlationId, policy }: Pick<OpenRequest, 'correlationId' | 'policy'>,
  body: BodyOf<typeof Topic.agentRequest>,
): RequestDraft => ({ topic: Topic.agentRequest, key: body.payload.agentId, correlationId, policy, ...body });

const aboutOf = ({ requestId, agentId, instanceId, taskId, kind }: OpenRequest | SettledRequest) => ({
  ...{ requestId, agentId, instanceId, taskId, kind },
});

const expired = (request: OpenRequest, open: number): RequestDraft =>
  draftOf(request, {
    type: 'REQUEST_EXPIRED',
    payload: { ...aboutOf(request), outcome: request.atDeadline === 'allow' ? 'allow' : 'no_decision', open },
  });

const withdrawn = (
  request: OpenRequest | SettledRequest,
  why: string,
  wasAnswered: boolean,
  open: number,
): RequestDraft =>
  draftOf(request, { type: 'REQUEST_WITHDRAWN', payload: { ...aboutOf(request), why, wasAnswered, open } });

/** The same request again changes nothing but the ingress at which its hook waits. */
const opening = (state: RequestsState, { payload, correlationId, policy }: Opening, now: number) => {
  const { requestId, agentId, instanceId, taskId, deadlineAt, heldBy } = payload;
  const known = state.open.find((one) => one.requestId === requestId);
  const isOver = state.settled.some((one) => one.requestId === requestId) || deadlineAt <= now;
  if (isOver || known?.heldBy === heldBy || (known !== undefined && known.instanceId !== instanceId)) return [];
  const cause = { correlationId, policy };
  if (known === undefined && state.open.length >= MOST_OPEN) {
    const about = { requestId, agentId, instanceId, taskId };
    const body = { ...about, open: state.open.length, isFirst: !state.isFull };
    return [draftOf(cause, { type: 'REQUEST_REFUSED', payload: body })];
  }
  const open = state.open.length + (known === undefined ? 1 : 0);
  const kept = { deadlineAt: known?.deadlineAt ?? deadlineAt, atDeadline: known?.atDeadline ?? payload.atDeadline };
  return [draftOf(cause, { type: 'REQUEST_OPENED', payload: { ...payload, ...kept, open } })];
};

/** The request that an answer decides, or why it changes nothing. */
const answeredBy = (
  { open, settled }: RequestsState,
  { requestId, instanceId, option, answers }: Answer['payload'],
): OpenRequest | { readonly reason: Refusal; readonly detail: string } => {
  const over = settled.find((one) => one.requestId === requestId);
  if (over !== undefined) return { reason: over.how, detail: over.detail };
  const request = open.find((one) => one.requestId === requestId);
  if (request === undefined)
    return { reason: 'unknown_request', detail: 'its agent has no such request: `vigil inbox` shows what waits' };
  if (request.instanceId !== instanceId)
    return {
      reason: 'other_instance',
      detail: `it was asked by instance ${request.instanceId}, not by ${instanceId}`,
    };
  if (answers.length > 0) return mistakeInAnswers(request.questions, answers) ?? request;
  return request.choices.includes(option)
    ? request
    : { reason: 'no_such_option', detail: `${JSON.stringify(option)} is not ${takenBy(request)}` };
};

/** What a request takes instead of an unknown option. */
const takenBy = ({ choices, questions }: OpenRequest): string =>
  choices.length > 0
    ? `one of ${choices.join(', ')}`
    : `an answer to each of its questions: ${questions.map(({ name }) => name).join(', ')}`;

const answering = (state: RequestsState, { payload, correlationId, policy }: Answer): readonly RequestDraft[] => {
  const { requestId, agentId, instanceId, answers, by, why } = payload;
  const option = answers.length > 0 ? answersText(answers) : payload.option;
  const request = answeredBy(state, payload);
  if ('reason' in request) {
    const refused = { requestId, agentId, instanceId, option, by, ...request };
    return [draftOf({ correlationId, policy }, { type: 'ANSWER_REFUSED', payload: refused })];
  }
  const answered = { ...aboutOf(request), option, answers, by, why, open: state.open.length - 1 };
  return [draftOf(request, { type: 'REQUEST_ANSWERED', payload: answered })];
};

/** An answer that its hook did not receive was not applied. */
const withdrawing = ({ open, settled }: RequestsState, { payload }: Withdrawal): readonly RequestDraft[] => {
  const { requestId, why } = payload;
  const request = open.find((one) => one.requestId === requestId);
  if (request !== undefined) return [withdrawn(request, why, false, open.length - 1)];
  const answered = settled.find((one) => one.requestId === requestId && one.how === 'answered');
  return answered === undefined ? [] : [withdrawn(answered, why, true, open.length)];
};

/** The requests of an instance that is over wait no longer. */
const endOf = ({ open }: RequestsState, instanceId: string | null, why: string): readonly RequestDraft[] => {
  const ended = instanceId === null ? [] : open.filter((one) => one.instanceId === instanceId);
  return ended.map((request, index) => withdrawn(request, why, false, open.length - index - 1));
};

const decidedOn = (state: RequestsState, input: Input, now: number): readonly RequestDraft[] => {
  switch (input.type) {
    case 'OPEN_REQUEST':
      return opening(state, input, now);
    case 'ANSWER_REQUEST':
      return answering(state, input);
    case 'WITHDRAW_REQUEST':
      return withdrawing(state, input);
    case 'INSTANCE_STARTED': {
      const { previousInstanceId } = input.payload;
      return endOf(state, previousInstanceId, 'another instance of the agent has started');
    }
    case 'HEALTH_STATE_CHANGED': {
      const { instanceId, to } = input.payload;
      return to === 'TERMINATED' ? endOf(state, instanceId, 'the agent has ended') : [];
    }
    case 'AGENT_ANSWERED':
    case 'BREAKER_RESET_ASKED':
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
    case 'CLOCK_DRIFTED':
    case 'CLOCK_DRIFT_ENDED':
    case 'DUPLICATE_INSTANCE':
    case 'HOLD_CHANGED':
    case 'HOLD_REFUSED':
    case 'CONTROL_APPLIED':
    case 'CONTROL_REFUSED':
    case 'EXEMPTION_CHANGED':
    case 'WAIT_OVERDUE':
    case 'WAIT_ENDED':
    case 'WARRANT_FILED':
    case 'WARRANT_RENEWED':
    case 'WARRANT_LAPSED':
    case 'WORKER_ESCALATION_TICKET':
      return [];
  }
};

const dueIn = ({ open }: RequestsState, now: number): readonly OpenRequest[] =>
  open.filter(({ deadlineAt }) => deadlineAt <= now);

const decided = (state: RequestsState, now: number, input: Input | null): readonly RequestDraft[] => {
  const due = dueIn(state, now);
  const expiries = due.map((request, index) => expired(request, state.open.length - index - 1));
  if (input === null) return expiries;
  const after = expiries.reduce((so, event) => evolved(so, event, now), state);
  return [...expiries, ...decidedOn(after, input, now)];
};

const settledBy = (
  state: RequestsState,
  requestId: string,
  how: SettledRequest['how'],
  detail: string,
  at: number,
): RequestsState => {
  const request = [...state.open, ...state.settled].find((one) => one.requestId === requestId);
  if (request === undefined) return state;
  const { correlationId, policy } = request;
  const open = state.open.filter((one) => one.requestId !== requestId);
  const others = state.settled.filter((one) => one.requestId !== requestId);
  const over = { ...aboutOf(request), correlationId, policy, how, detail, at };
  return {
    open,
    settled: [...others, over].slice(-MOST_SETTLED),
    isFull: state.isFull && open.length > ROOM_AT,
  };
};

const evolved = (state: RequestsState, event: RequestDraft, now: number): RequestsState => {
  switch (event.type) {
    case 'REQUEST_OPENED': {
      const { requestId, agentId, instanceId, taskId, kind, deadlineAt, atDeadline, heldBy } = event.payload;
      const { correlationId = requestId, policy = null } = event;
      const request: OpenRequest = {
        ...{ requestId, agentId, instanceId, taskId, kind, deadlineAt, atDeadline, heldBy, correlationId, policy },
        choices: event.payload.choices.map(({ name }) => name),
        questions: event.payload.questions.map(askedQuestion),
      };
      const others = state.open.filter((one) => one.requestId !== requestId);
      return { ...state, open: [...others, request] };
    }
    case 'REQUEST_ANSWERED': {
      const { requestId, option, by } = event.payload;
      return settledBy(state, requestId, 'answered', `${by} has answered ${option}`, now);
    }
    case 'REQUEST_WITHDRAWN':
      return settledBy(state, event.payload.requestId, 'withdrawn', event.payload.why, now);
    case 'REQUEST_EXPIRED':
      return settledBy(state, event.payload.requestId, 'expired', 'its deadline has passed', now);
    case 'REQUEST_REFUSED':
      return { ...state, isFull: true };
    case 'ANSWER_REFUSED':
      return state;
  }
};

/** When a state is of no use any more. */
const forgottenAt = ({ open, settled }: RequestsState): number => {
  const last = settled.at(-1);
  return open.length > 0 || last === undefined ? NEVER : last.at + KEPT_MS;
};

/** `state`: of shape 1. A request had no questions, and one of its choices was its answer. */
const withQuestions = (state: unknown): RequestsState => {
  const { open, ...rest } = state as Omit<RequestsState, 'open'> & {
    readonly open: readonly Omit<OpenRequest, 'questions'>[];
  };
  return { ...rest, open: open.map((request) => ({ ...request, questions: [] })) };
};

export const REQUESTS_AT_REST: AtRest<RequestsState> = {
  oldest: 1,
  upgrades: [{ usual: null, to: withQuestions }],
  usual: null,
};

/** The requests of an agent to people: the first answer decides, before the deadline, for the instance that asked. */
export const requests: Decider<RequestsState, Input, RequestDraft> = {
  initial,
  observe: (state) => state,
  decide: (state, { now }, input) => decided(state, now, input),
  evolve: (state, event, { now }) => evolved(state, event, now),
  dueAt: (state) => Math.min(forgottenAt(state), ...state.open.map(({ deadlineAt }) => deadlineAt)),
  forgets: (state, { now }) => now >= forgottenAt(state),
};
