import type { CompiledPlan, Term, Use, Vocabulary } from '../compile/compiled.ts';
import { nearest } from '../values/spelling.ts';
import type { PolicyDocument } from './document.ts';
import type { Mistakes } from './mistakes.ts';
import { together, WORST_FIRST } from './names.ts';

type WrittenPlan = PolicyDocument['plans'][number];

/** Plans in the order in which they are tried; each is named by its `when`. */
export const plansOf = (
  d: PolicyDocument,
  uses: readonly Use[],
  { exemptions }: Vocabulary,
  mistakes: Mistakes,
): readonly CompiledPlan[] => {
  const known = [...WORST_FIRST, ...uses.map(({ name }) => name), ...Object.keys(exemptions)];
  return d.plans.map((plan, i) => ({
    name: plan.when.join(' or '),
    steps: plan.do,
    anyOf: plan.when.map((line, j) =>
      together(line).map((word) => {
        if (!known.includes(word)) mistakes.push(`${whenAt(plan, i, j)}: ${unknown(word, known)}`);
        return termOf(word, uses);
      }),
    ),
  }));
};

/** The place of a plan's alternative: `plans[2].when`, or `plans[2].when[1]` if there are several. */
export const whenAt = ({ when }: Pick<WrittenPlan, 'when'>, plan: number, alternative: number): string =>
  when.length === 1 ? `plans[${plan}].when` : `plans[${plan}].when[${alternative}]`;

const termOf = (word: string, uses: readonly Use[]): Term => {
  const state = WORST_FIRST.find((s) => s === word);
  if (state) return { kind: 'state', state };
  const use = uses.findIndex(({ name }) => name === word);
  return use < 0 ? { kind: 'exemption', exemption: word } : { kind: 'use', use };
};

const unknown = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  const remedy =
    near === null ? `write one of ${WORST_FIRST.join(', ')}, or declare the signal` : `did you mean ${near}?`;
  return `${word} is neither a state nor declared under signals nor an exemption: ${remedy}`;
};
