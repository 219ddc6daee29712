import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import { type About, AT_DEADLINE, type Noticed, raise, resolve, settle } from '../notice.ts';

export const WAIT_ROUTE = 'awaiting_input';

/** Agents that share a task wait each for themselves. A long wait and a request of an agent are one alert. */
export const aboutWait = <Payload extends About & { readonly agentId: string }>(payload: Payload): About =>
  payload.taskId === null ? payload : { ...payload, of: payload.agentId };

type Opened = PayloadOf<typeof Topic.agentRequest, 'REQUEST_OPENED'>;

/** The words of choices that are no words themselves. */
const choicesOf = ({ choices }: Opened): string => {
  const isPlain = choices.every(({ name, label }) => name.toLowerCase() === label.toLowerCase());
  return isPlain ? '' : `; ${choices.map(({ name, label }) => `${name}: ${label}`).join(', ')}`;
};

/** What the agent asks for, in the title. */
const askedFor = ({ kind, questions }: Opened): string => {
  if (kind !== 'question') return 'for a permission';
  return questions.length > 1 ? `${questions.length} questions` : 'a question';
};

/** Channels have a button for one choice, and none for the answers to several questions. */
const whereOf = ({ choices, questions }: Opened): string =>
  choices.length === 0 && questions.length > 0 ? '; answer it on the page, or by the command in `vigil inbox`' : '';

/** With its choices, for the buttons and links of channels. */
const opened = (request: Opened): Noticed => {
  const { agentId, requestId, text, choices, questions, deadlineAt, atDeadline } = request;
  const onTimeout = atDeadline === 'allow' ? 'allow' : 'no_decision';
  const until = `until ${utcTime(deadlineAt)}, then ${AT_DEADLINE[onTimeout]}`;
  return raise(WAIT_ROUTE, aboutWait(request), {
    title: `${agentId} asks ${askedFor(request)}`,
    text: `${text}${choicesOf(request)}${whereOf(request)}; request/${requestId} of \`vigil inbox\`, ${until}`,
    options: choices.map(({ name }) => name),
    questions,
    askedText: text,
    deadlineAt,
    itemId: `request/${requestId}`,
    onTimeout,
  });
};

type Ended = PayloadOf<typeof Topic.agentRequest, 'REQUEST_ANSWERED' | 'REQUEST_WITHDRAWN' | 'REQUEST_EXPIRED'>;

/** The alert stays while another request of the agent waits. */
const ended = (request: Ended, why: string): Noticed => {
  const text = `${request.agentId}: ${why}`;
  if (request.open === 0) return resolve(WAIT_ROUTE, aboutWait(request), text);
  return settle(WAIT_ROUTE, aboutWait(request), { title: `request/${request.requestId} is over`, text });
};

type Expired = PayloadOf<typeof Topic.agentRequest, 'REQUEST_EXPIRED'>;

/** What followed the deadline, in words. */
const FOLLOWED: Readonly<Record<Expired['outcome'], string>> = {
  no_decision: 'its client decides itself: it shows the question in its own terminal, or denies',
  allow: 'it was allowed',
  UNKNOWN: 'its client decides itself',
};

/** Its agent may wait for the same answer in its own terminal. */
const expired = (request: Expired): Noticed => {
  const notice = ended(request, `no answer came before the deadline, so ${FOLLOWED[request.outcome]}`);
  return { ...notice, details: { ...notice.details, isExpired: true } };
};

/** An agent with open requests has one alert, for any number of them. */
export const requestNotices = (input: EventOf<typeof Topic.agentRequest>): readonly Noticed[] => {
  switch (input.type) {
    case 'REQUEST_OPENED':
      return [opened(input.payload)];
    case 'REQUEST_ANSWERED':
      return [ended(input.payload, `${input.payload.by} has answered ${input.payload.option}`)];
    case 'REQUEST_WITHDRAWN':
      return [ended(input.payload, input.payload.why)];
    case 'REQUEST_EXPIRED':
      return [expired(input.payload)];
    case 'REQUEST_REFUSED':
    case 'ANSWER_REFUSED':
      return [];
  }
};
