import { LINK_FIELDS } from '@vigil/chassis/decision-link';
import { markHidden } from '@vigil/read-model/hidden-text';
import { frictionOf, usualPlace } from '../adapters/omniclaude-friction.ts';
import { AT_DEADLINE, BRAKE_ITEM } from '../notices/notice.ts';
import { decisionLinks, type LinkDeps } from './decision-links.ts';
import { type AlertEvent, isQuiet, type SinkDeps } from './sink.ts';

type Payload = AlertEvent['payload'];
type Asking = Extract<AlertEvent, { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' }>['payload'];

const KINDS = {
  ALERT_RAISED: 'alert.raised',
  ALERT_UPDATED: 'alert.updated',
  ALERT_RESOLVED: 'alert.resolved',
} as const;

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/**
 * The fields of a message that may have an agent's own words. An orchestrator that is an agent itself must not follow
 * them.
 */
const WRITTEN_BY_AGENTS = [
  ...['title', 'text', 'labels', 'blocked', 'checkpoint', 'friction'],
  'decision.questions',
] as const;

/**
 * The message for machines: the body of a webhook, the input of a command. A repetition has the same `id`. Times are
 * RFC 3339.
 * `channel`: the recipient, whose name its decision links have.
 */
export const messageOf = async (
  alert: AlertEvent,
  channel: string,
  deps: LinkDeps & Pick<SinkDeps, 'linearChannels'>,
) => ({
  type: KINDS[alert.type],
  timestamp: iso(alert.occurredAt),
  data: {
    id: alert.eventId,
    ...headOf(alert.payload),
    quiet: isQuiet(alert),
    written_by_agents: WRITTEN_BY_AGENTS,
    policy: alert.policy,
    decision: await decisionOf(alert, channel, deps),
    checkpoint: 'checkpoint' in alert.payload ? checkpointOf(alert.payload) : null,
    blocked: 'blocked' in alert.payload ? alert.payload.blocked : null,
    friction: frictionFor(alert, deps.linearChannels),
  },
});

const headOf = (payload: Payload) => ({
  alert_id: payload.alertId,
  alert_key: payload.alertKey,
  route: payload.route,
  severity: payload.severity,
  urgency: payload.urgency,
  title: payload.title,
  text: payload.text,
  raised_at: iso(payload.raisedAt),
  agent_id: payload.agentId,
  task_id: payload.taskId,
  case_id: payload.caseId,
  request_id: 'requestId' in payload ? payload.requestId : null,
  item: itemOf(payload),
  episode_id: payload.episodeId,
  labels: payload.labels,
});

/** The item of the inbox that an alert is about; null: it has none, or is over. */
const itemOf = (payload: Payload): string | null => ('itemId' in payload ? payload.itemId : null);

/** A text with the id of its item, which `vigil inbox` and the page show. At most so many characters. */
export const withItem = (text: string, payload: Payload, most: number): string => {
  const itemId = itemOf(payload);
  const whole = cut(text, most);
  if (itemId === null || whole.includes(`${itemId} of`)) return whole;
  const how = itemId === BRAKE_ITEM ? ', to be lifted by `vigil brake lift`' : '';
  const place = `${text.includes('\n') ? '\n' : '; '}${plain(itemId)} of \`vigil inbox\`${how}`;
  return cut(text, most - place.length) + place;
};

/** A ticket, and a blocked task, wait until a person acknowledges their alert. A task in review has options. */
const isAcknowledged = ({ itemId, options }: Asking): boolean =>
  itemId !== null && (itemId.startsWith('ticket/') || (itemId.startsWith('task/') && options.length === 0));

/** The choices of an alert. Those of a ticket, of a blocked task and of the brake are the same for each. */
const optionsOf = (asking: Asking): readonly string[] => {
  if (asking.itemId === BRAKE_ITEM) return ['lift'];
  return isAcknowledged(asking) ? ['acknowledge'] : asking.options;
};

/** What the question of an alert is about; null: there is no question. */
const subjectOf = (asking: Asking) => {
  const { options, questions, requestId, caseId, taskId, itemId, alertId } = asking;
  if (itemId === BRAKE_ITEM) return { kind: 'lift_brake', subject: null } as const;
  if (isAcknowledged(asking)) return { kind: 'acknowledge', subject: alertId } as const;
  if (options.length === 0 && questions.length === 0) return null;
  if (requestId !== null) return { kind: 'answer_request', subject: requestId } as const;
  if (caseId !== null) return { kind: 'decide_case', subject: caseId } as const;
  return taskId === null ? null : ({ kind: 'review_task', subject: taskId } as const);
};

/**
 * The question, its deadline, and how to answer it: by one of `links`, or by a token of the dashboard. `links` null: it has none. Then `body` is posted to `url` with one of
 * the options as `decision`, of a request as `option`, or of several questions with `answers`. `page`: where people answer those.
 */
export const decisionOf = async (alert: AlertEvent, channel: string, deps: LinkDeps) => {
  const { payload } = alert;
  const about = 'options' in payload ? subjectOf(payload) : null;
  if (about === null || !('options' in payload)) return null;
  const { questions, deadlineAt, onTimeout } = payload;
  const options = optionsOf(payload);
  const dashboard = deps.dashboardUrl.replace(/\/$/, '');
  return {
    options,
    questions: questions.map(questionFor),
    page: `${dashboard}/#/inbox`,
    deadline: iso(deadlineAt),
    on_timeout: onTimeout,
    // A link is for a responder's answer: the brake is lifted by an operator.
    links:
      options.length === 0 || about.kind === 'lift_brake'
        ? null
        : await decisionLinks(alert, options, about, channel, deps),
    url: `${dashboard}/v1/commands`,
    method: 'POST',
    body: { ...exampleCommand(about, payload, options), by: '', why: '' },
  };
};

/** The command of an answer, with the first choice. `askedAt` names the question: an answer to an earlier one is refused. */
const exampleCommand = (
  about: NonNullable<ReturnType<typeof subjectOf>>,
  { questions, askedAt }: Asking,
  options: readonly string[],
) => {
  const { kind } = about;
  if (kind === 'lift_brake') return { kind };
  const fields = LINK_FIELDS[kind];
  const command = { kind, [fields.subject]: about.subject };
  if (fields.answer === null) return command;
  return {
    ...command,
    ...(askedAt !== null && { askedAt }),
    ...(options.length > 0 ? { [fields.answer]: options[0] } : { answers: questions.map(exampleAnswer) }),
  };
};

type Question = Asking['questions'][number];

const questionFor = ({ name, text, isMultiple, options }: Question) => ({
  ...{ name, text, is_multiple: isMultiple, options },
});

/** An answer in its form, with the first label. */
const exampleAnswer = ({ name, options }: Question) => ({
  ...{ question: name, labels: options.slice(0, 1).map(({ label }) => label), text: null },
});

/** What has no buttons leads to the page: `why` it has none, and the text of the `link`. Null: it has buttons, or takes no answer. */
export const pageHint = ({
  options,
  questions,
  body,
}: Decision): { readonly why: string; readonly link: string } | null => {
  if (body.kind === 'lift_brake') return { why: 'An operator lifts it', link: 'Lift it on the page' };
  if (options.length > 0 || questions.length === 0) return null;
  const { length } = questions;
  const why = length === 1 ? 'It takes several labels or other words' : `It has ${length} questions`;
  return { why, link: 'Answer on the page' };
};

/** omniclaude's file, for a receiver that can write it where the task's agents work; null: no task is Blocked. */
const frictionFor = (alert: AlertEvent, linearChannels: readonly string[]) => {
  const friction = frictionOf(alert, usualPlace, linearChannels);
  return friction === null ? null : { path: friction.path, text: friction.text };
};

/** `valid` null: the checkpoint has not been read yet. */
const checkpointOf = ({ checkpoint }: Asking) => {
  if (checkpoint === null) return null;
  const { checkpointId, uri, sha256, valid, invalidReason, createdAt, completedWork, remainingWork } = checkpoint;
  return {
    checkpoint_id: checkpointId,
    uri,
    sha256,
    valid,
    invalid_reason: invalidReason,
    created_at: iso(createdAt),
    completed_work: completedWork,
    remaining_work: remainingWork,
  };
};

/** What agents wrote must not control the terminal that shows it, nor turn its text around, nor hide in it. */
export const plain = (text: string): string =>
  markHidden(text).replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\u{e0000}-\u{e007f}]+/gu, ' ');

/** A line that ends so needs no separator before the next one. */
const HAS_END = /[.:;,!?…]$/;

/** As `plain`, for receivers that show one line: what were lines are separated. */
export const oneLine = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => plain(line).trim())
    .filter((line) => line !== '')
    .reduce((before, line) => (before === '' ? line : `${before}${HAS_END.test(before) ? ' ' : '; '}${line}`), '');

/** As `plain`, with its line breaks: for receivers that show them. */
export const plainLines = (text: string): string => text.split(/\r?\n/).map(plain).join('\n');

/** As `plainLines`, for every text at any depth. */
const plainAll = <T>(value: T): T => {
  if (typeof value === 'string') return plainLines(value) as T;
  if (Array.isArray(value)) return value.map(plainAll) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [plain(name), plainAll(one)])) as T;
};

/** An event as channels get it. The log keeps what the agent wrote. */
export const plainEvent = <E extends AlertEvent>(event: E): E => ({ ...event, payload: plainAll(event.payload) });

/** The title where the end is its first word, and not its last one too. */
export const resolvedTitle = (title: string): string => `Resolved: ${title.replace(/: over$/, '')}`;

/** What has happened to an alert: raised, updated or resolved. */
export const whatOf = ({ type }: AlertEvent): 'raised' | 'updated' | 'resolved' => {
  switch (type) {
    case 'ALERT_RAISED':
      return 'raised';
    case 'ALERT_UPDATED':
      return 'updated';
    case 'ALERT_RESOLVED':
      return 'resolved';
  }
};

export type Decision = NonNullable<Awaited<ReturnType<typeof decisionOf>>>;

/** The longest text of a button that Slack takes, characters. */
const LONGEST_LABEL = 75;

/** `allow_more_time`: Allow more time. A numbered choice of a question: the words of the choice. */
export const labelOf = (option: string, { options, questions }: Pick<Decision, 'options' | 'questions'>): string => {
  const [question, ...more] = questions;
  const isNumbered = question !== undefined && more.length === 0 && question.options.length === options.length;
  const own = isNumbered ? question.options[options.indexOf(option)]?.label : undefined;
  return cut(plain(own ?? wordsOf(option)), LONGEST_LABEL);
};

/** What happens without an answer, in words. */
export const atDeadlineOf = (onTimeout: string): string =>
  Object.entries(AT_DEADLINE).find(([ruling]) => ruling === onTimeout)?.[1] ?? onTimeout;

const wordsOf = (decision: string): string => decision.charAt(0).toUpperCase() + decision.slice(1).replaceAll('_', ' ');

/** At most so many characters, for receivers that refuse longer texts. */
export const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
