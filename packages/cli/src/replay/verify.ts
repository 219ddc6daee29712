import { type Difference, type Verified, verify } from '@vigil/health/replay';
import { storyLine } from '../render/describe.ts';
import type { View } from '../render/view.ts';
import { endUnwell, show } from '../terminal.ts';
import { type SourceOptions, withSource } from './source.ts';
import { verifyLog } from './verify-log.ts';

/** Compares the decisions of a span, and ends with 1 if one differs. Throws CannotProceed. */
export const verifySpan = async (options: SourceOptions): Promise<void> => {
  const verified = options.file === undefined ? await verifyLog(options) : await withSource(options, verify);
  const isSame = verified.differences.length === 0;
  show(options.json, { same: isSame, ...verified }, (plainOne, view) => verifiedLines(view, plainOne));
  if (!isSame) endUnwell();
};

/** Agents that are named; the rest is counted. */
const NAMED = 5;

const listed = (agents: readonly string[]): string =>
  agents.length <= NAMED ? agents.join(', ') : `${agents.slice(0, NAMED).join(', ')} and ${agents.length - NAMED} more`;

/** What was compared, what was not, and the first difference of each agent. */
export const verifiedLines = (view: View, verified: Verified): string[] => {
  const { observations, decisions, agents, earlier, newer, unreadable, differences } = verified;
  const folded = `${observations} observations folded again; ${decisions} decisions about ${agents} agents are as recorded.`;
  return [
    differences.length === 0
      ? folded
      : `${differences.length} of ${agents} agents ${differences.length === 1 ? 'is' : 'are'} judged differently now. ${folded}`,
    ...(agents === 0 ? ['Nothing is decided in this span, so that nothing was compared.'] : []),
    ...(earlier.length === 0
      ? []
      : [`Not compared, because they were known before the first stored observation: ${listed(earlier)}.`]),
    ...(newer === 0
      ? []
      : [`${newer} newer decisions were not compared: the evaluator had not committed them when the reading began.`]),
    ...(unreadable === 0
      ? []
      : [`${unreadable} observations cannot be read: \`vigil dlq list\` has their dead letters.`]),
    ...differences.flatMap((difference) => ['', ...differenceLines(view, difference)]),
  ];
};

const differenceLines = (view: View, { agent, at, position, recorded, decided, reason }: Difference): string[] => {
  const line = (event: Difference['recorded']) =>
    event === null ? 'nothing' : storyLine(view, { ...event, at } as never).trim();
  return [
    view.paint.bold(agent),
    `  reason    ${reason}`,
    `  recorded  ${line(recorded)}`,
    `  now       ${line(decided)}`,
    ...(position === null ? [] : [`  cause     ${position}`]),
  ];
};
