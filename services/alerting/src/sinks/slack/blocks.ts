import {
  atDeadlineOf,
  cut,
  type Decision,
  decisionOf,
  labelOf,
  pageHint,
  plain,
  resolvedTitle,
  whatOf,
  withItem,
} from '../../delivery/message.ts';
import type { AlertEvent, SinkDeps } from '../../delivery/sink.ts';

/** Beginning of the ids of buttons that answer a question. */
export const DECIDE = 'vigil:decide:';

const LONGEST_SECTION = 2900;
const LONGEST_LINE = 250;
const MOST_BUTTONS = 5;

const ICONS = { critical: ':red_circle:', warning: ':large_orange_circle:', info: ':large_blue_circle:' } as const;

/** What an agent wrote must not mention people, link, or format: Slack reads these three characters as its own. */
export const escaped = (text: string): string =>
  plain(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One line: the icon of its severity or end, and the title. */
export const lineOf = (alert: AlertEvent): string => {
  const { severity, title } = alert.payload;
  const isOver = whatOf(alert) === 'resolved';
  const icon = isOver ? ':white_check_mark:' : ICONS[severity === 'UNKNOWN' ? 'warning' : severity];
  return `${icon} ${cut(escaped(isOver ? resolvedTitle(title) : title), LONGEST_LINE)}`;
};

/** The title and the text of an alert. */
const textOf = (alert: AlertEvent): string => {
  const line = lineOf(alert);
  const text = alert.payload.text.split('\n').map(escaped).join('\n');
  return `${line}\n${withItem(text, alert.payload, LONGEST_SECTION - line.length - 1)}`;
};

/** `answers`: `link`: a button opens the page of its choice; `button`: Slack reports the press, with the token of the link. */
export type Answers = 'link' | 'button';

/** The message of an alert as it is now, for Slack's block kit. */
export const blocksOf = async (alert: AlertEvent, channel: string, answers: Answers, deps: SinkDeps) => {
  const { route, severity, urgency, agentId, taskId } = alert.payload;
  const hurry = urgency === 'normal' ? null : `urgency ${urgency}`;
  const decision = await decisionOf(alert, channel, deps);
  const about = [severity, hurry, route, agentId, taskId].filter((one) => one !== null).map(escaped);
  return [
    { type: 'section', text: { type: 'mrkdwn', text: textOf(alert) } },
    { type: 'context', elements: [{ type: 'mrkdwn', text: cut(about.join(' · '), LONGEST_SECTION) }] },
    ...(decision === null ? [] : questionOf(decision, answers)),
  ];
};

const questionOf = (decision: Decision, answers: Answers) => {
  const { deadline, on_timeout, links, page } = decision;
  const hint = pageHint(decision);
  const waits = deadline === null ? 'It waits without a deadline.' : `It waits until ${deadline}.`;
  const otherwise = on_timeout === null ? '' : ` Without an answer: ${escaped(atDeadlineOf(on_timeout))}.`;
  const buttons = Object.entries(links ?? {})
    .slice(0, MOST_BUTTONS)
    .map(([choice, link]) => buttonOf(choice, labelOf(choice, decision), link, answers));
  return [
    { type: 'context', elements: [{ type: 'mrkdwn', text: waits + otherwise }] },
    ...(hint === null
      ? []
      : [{ type: 'section', text: { type: 'mrkdwn', text: `${hint.why}: <${page}|${hint.link.toLowerCase()}>.` } }]),
    ...(buttons.length > 0 ? [{ type: 'actions', elements: buttons }] : []),
  ];
};

const buttonOf = (choice: string, label: string, link: string, answers: Answers) => ({
  type: 'button',
  action_id: `${DECIDE}${choice}`,
  text: { type: 'plain_text', text: label },
  ...(answers === 'link' ? { url: link } : { value: new URL(link).searchParams.get('link') ?? '' }),
});
