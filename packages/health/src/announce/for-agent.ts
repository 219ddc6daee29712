import type { History } from '../history/history.ts';
import { judgingOf, type Verdict } from '../judgement/judge.ts';
import type { Rule, Rules } from '../judgement/rules.ts';

/** A finding in sentences for the agent itself. */
export type ForAgent = { readonly finding: string; readonly advice: string };

const LONGEST = 400;

/** Names of tools and files come from the agent: one line, without control characters. */
const oneLine = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, LONGEST);

/** The first line of the state that holds, in the order of the policy: policies write the most important one first. Else all that fires. */
function foundBy({ rules, states }: Rules, { state, from, at }: Verdict): readonly Rule[] {
  const fires = (i: number) => (from[i] ?? 0) <= at.now;
  const those = states.find((one) => one.state === state)?.anyOf.find((together) => together.every(fires));
  if (those) return those.flatMap((i) => rules[i] ?? []);
  return rules.filter(({ signal }, i) => fires(i) && !signal.mitigating);
}

export function forAgent(rules: Rules, history: History, verdict: Verdict): ForAgent {
  const found = foundBy(rules, verdict);
  const findings = found.map((rule) => rule.signal.finding(history, rule.limits, judgingOf(verdict, rule)));
  return {
    finding: oneLine(findings.join(' ')),
    advice: oneLine([...new Set(found.map(({ signal }) => signal.advice))].join(' ')),
  };
}
