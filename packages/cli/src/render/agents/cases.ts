import type { CaseRow, CaseStory, Withheld } from '@vigil/read-model';
import { caseStandingText } from '@vigil/read-model/standing';
import { caseReason, evidenceName, trailLine } from '../describe.ts';
import { ageText, clockTime, orDash, table, type View } from '../view.ts';

const standing = (view: View, one: CaseRow): string => caseStandingText(one, (at) => clockTime(view, at));

export const casesTable = (view: View, cases: readonly CaseRow[]): string[] =>
  table<CaseRow>(
    view,
    [
      { title: 'CASE', of: ({ caseId }) => caseId },
      { title: 'AGENT', of: ({ agentId }) => agentId },
      {
        title: 'STANDS',
        of: (one) => standing(view, one),
        paint: (text, { waiting }) => (waiting ? view.paint.yellow(text) : text),
      },
      { title: 'OPENED', of: ({ openedAt }) => clockTime(view, openedAt) },
      { title: 'PLAN', of: ({ planName }) => planName },
      { title: 'WHY', of: (one) => orDash(caseReason(one)), rest: true },
    ],
    cases,
    'No cases.',
  );

/** `nudge → escalate → terminate → recover`. */
export const planText = (plan: unknown): string => {
  if (!Array.isArray(plan)) return 'plan unknown';
  return plan.map((step: { step?: unknown }) => String(step?.step ?? '?')).join(' → ');
};

/** The step that the governor withholds, and until when. */
export const withheldText = ({ step, detail }: Withheld): string => `${step}: ${detail}`;

/** A case with its steps. */
export const caseLines = (view: View, found: CaseStory): string[] => [
  ...caseFacts(view, found),
  ...found.trail.map((entry) => trailLine(view, entry)),
  ...questionLines(view, found),
];

/** What is open of a case: its question to people, if it waits for one. */
export const questionLines = (view: View, found: CaseStory): readonly string[] =>
  found.waiting
    ? [
        view.paint.yellow(`waits for a decision: ${orDash(found.escalationReason)}`),
        ...(found.escalationDeadlineAt === null
          ? []
          : [`  ${deadlineText(view, found.escalationDeadlineAt)} ${orDash(found.escalationOnTimeout)}`]),
        ...found.escalationOptions.map((o) => `  vigil case decide ${found.caseId} ${o} --why "…"`),
      ]
    : [];

/** A case without its steps. */
export const caseFacts = (view: View, found: CaseStory): readonly string[] => [
  `${view.paint.bold(`case ${found.caseId}`)} of ${found.agentId}: ${standing(view, found)}`,
  `  plan "${found.planName}": ${planText(found.plan)}`,
  ...(found.policyName === null ? [] : [`  policy ${found.policyName} ${orDash(found.policyHash)}`]),
  ...(found.note === null ? [] : [`  note ${found.note}`]),
  ...found.evidence.map((evidence) => `  ${evidenceName(evidence)}: ${evidence.words}`),
  ...(found.withheld === null ? [] : [view.paint.yellow(`withheld: ${withheldText(found.withheld)}`)]),
];

/** A wait of the agent suspends the deadline. */
const deadlineText = (view: View, at: number): string =>
  at <= view.now
    ? 'the deadline has passed; when the governor admits it:'
    : `in ${ageText({ ...view, now: at }, view.now)} then`;
