import { argsHash, maskedResultHash, resultHash } from '@vigil/sdk/hashes';
import type { Asked, Compared, PeerCase, Suite } from './peer.ts';
import { replayed, type Seen } from './replay.ts';

/** Vigil's answer, in words; null if the test concerns something that Vigil does not decide. */
export type Answer = {
  readonly name: string;
  readonly differs: string | null;
  readonly outside: string | null;
  readonly agrees: boolean;
  readonly theirs: string;
  readonly ours: string;
};

export const answersOf = (suite: Suite): readonly Answer[] =>
  suite.cases.map((one) => {
    const found = answerOf(suite, one);
    return { name: one.name, differs: one.differs ?? null, outside: null, ...found };
  });

type Found = Omit<Answer, 'name' | 'differs' | 'outside'> & { readonly outside?: string };

const answerOf = (suite: Suite, one: PeerCase): Found => {
  switch (one.kind) {
    case 'outside':
      return { outside: one.why, agrees: true, theirs: '', ours: '' };
    case 'hash': {
      const made = one.values.map(({ tool, value }) => hashOf(one.of, tool, value));
      const ours = made.length === new Set(made).size ? 'different' : 'alike';
      const lengths = new Set(made.map((text) => text?.length));
      const agrees = one.expected === 'sized' ? lengths.size === 1 && !made.includes(null) : ours === one.expected;
      return { agrees, theirs: one.expected, ours };
    }
    case 'replay': {
      const all = one.replays.map(({ given, expected, policy }) => ({
        expected,
        seen: replayed(policy ?? suite.policy, given),
      }));
      for (const { expected, seen } of all)
        if (expected.length !== seen.length)
          throw new Error(`${suite.name}, ${one.name}: ${seen.length} looks, but ${expected.length} are asked for`);
      return {
        agrees: all.every(({ expected, seen }) => expected.every((each, i) => satisfies(seen[i] as Seen, each))),
        theirs: all.map(({ expected }) => expected.map(wordsOf).join(', then ')).join('; '),
        ours: all
          .map(({ expected, seen }) => seen.map((one, i) => describeSeen(one, expected[i])).join(', then '))
          .join('; '),
      };
    }
  }
};

const hashOf = (of: Compared, tool: string | undefined, value: unknown): string | null => {
  switch (of) {
    case 'call': {
      const made = argsHash(value);
      return made && `${tool ?? 'tool'} ${made}`;
    }
    case 'result':
      return resultHash(value, false, null);
    case 'masked':
      return maskedResultHash(value);
  }
};

const satisfies = ({ state, plan, words }: Seen, each: Asked): boolean => {
  if (!each.state.includes(state)) return false;
  if (each.plan !== undefined && each.plan !== plan) return false;
  return each.contains === undefined || words.some((text) => text.includes(each.contains as string));
};

const wordsOf = ({ state, plan }: Asked): string => state.join(' or ') + describePlan(plan);
/** Includes the plan only if one is expected. */
const describeSeen = ({ state, plan }: Seen, expected: Asked | undefined): string =>
  state + describePlan(expected?.plan === undefined ? undefined : plan);
const describePlan = (plan: string | null | undefined): string =>
  plan === undefined ? '' : plan === null ? ' without plan' : ` with plan ${plan}`;
