import { type Compared, type DifferentAgent, type Outcome, type WhatIf, whatIf } from '@vigil/health/replay';
import { policyCalled } from '../evaluate/evaluate.ts';
import { outcomeText } from '../render/describe.ts';
import { clockTime, cut, type View } from '../render/view.ts';
import { show } from '../terminal.ts';
import { type SourceOptions, withSource } from './source.ts';

/** `insteadOf`: only agents of that policy are judged under the other one. */
type Options = SourceOptions & { readonly policy: string; readonly insteadOf?: string };

/** Judges a span under another policy, beside the recorded ones. Throws CannotProceed. */
export const judgeOtherwise = async ({ policy: name, insteadOf = 'all', ...options }: Options): Promise<void> => {
  const policy = policyCalled(name);
  const compared = await withSource(options, (source, signal) => whatIf(source, { policy, insteadOf }, signal));
  const answer = { policy: { name: policy.name, hash: policy.hash }, ...compared };
  show(options.json, answer, (plainOne, view) => comparedLines(view, plainOne));
};

type Answer = WhatIf & { readonly policy: { readonly name: string } };

/** Agents that are shown; the rest is counted. */
const SHOWN = 20;

/** The counts of both sides, then each agent whose outcomes differ. */
export const comparedLines = (view: View, answer: Answer): string[] => {
  const { observations, agents, different, actedOtherwise, recorded, otherwise, earlier } = answer;
  const name = answer.policy.name;
  const row = (what: string, left: number | string, right: number | string) =>
    `  ${what.padEnd(26)}${String(left).padStart(10)}  ${right}`;
  const more = different.length - SHOWN;
  return [
    `${observations} observations of ${agents} agents folded under the recorded policies and under ${name}.`,
    different.length === 0
      ? `No agent is judged differently under ${name}.`
      : `${different.length} of ${agents} agents are judged differently under ${name}, ${actedOtherwise} with another act.`,
    ...(earlier.length === 0
      ? []
      : [`Not compared, because they were known before the first stored observation: ${earlier.length} agents.`]),
    '',
    row('up to the first other act', 'recorded', name),
    row('agents STUCK or FAILING', recorded.stuck, otherwise.stuck),
    row('agents DEGRADED', recorded.degraded, otherwise.degraded),
    row('plans begun', recorded.plans, otherwise.plans),
    ...different.slice(0, SHOWN).flatMap((one) => ['', ...agentLines(view, name, one)]),
    ...(more > 0 ? ['', `and ${more} more agents: use --json, or --agent for one of them`] : []),
  ];
};

const agentLines = (view: View, name: string, { agent, outcomes, differsFrom }: DifferentAgent): string[] => [
  view.paint.bold(agent),
  ...outcomes.flatMap((one) => outcomeLines(view, name, one)),
  ...(differsFrom === null
    ? [`  no other act: what follows is the same in both`]
    : [
        `  The comparison ends here. With another act the agent would have reported something else,`,
        `  so that nothing after ${clockTime(view, differsFrom)} is compared.`,
      ]),
];

const outcomeLines = (view: View, name: string, { at, recorded, otherwise, isSame }: Compared): string[] => {
  const width = Math.max('recorded'.length, name.length);
  const line = (side: string, outcome: Outcome) =>
    cut(`  ${clockTime(view, at)}  ${side.padEnd(width)}  ${outcomeText(outcome)}`, view.width);
  if (isSame && recorded !== null) return [line('both', recorded)];
  return [
    ...(recorded === null ? [] : [line('recorded', recorded)]),
    ...(otherwise === null ? [] : [line(name, otherwise)]),
  ];
};
