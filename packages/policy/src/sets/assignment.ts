import { RE2JS } from 're2js';
import { z } from 'zod';
import { CorrectThePolicy, checkDepth, place, reading, spelled } from '../document/mistakes.ts';
import { canonicalJson, contentHash } from '../values/canonical.ts';
import { readable } from '../values/patterns.ts';
import { insteadOf } from '../values/spelling.ts';

/** The name of the document that assigns policies to agents. A policy's name has no dot. */
export const ASSIGNMENT = 'assign.yaml';

const rule = z.strictObject({
  id: z.string().min(1).superRefine(readable).nullable().default(null),
  labels: z.record(z.string(), z.string()).default({}),
  policy: z.string(),
  may_request: z.union([z.literal('any'), z.array(z.string())]).default([]),
});

/** The document as people write it. The names of policies are checked against those in force. */
export const assignDocument = z.strictObject({ rules: z.array(rule).default([]), default: z.string() });

/**
 * A rule for the agents whose id matches the RE2 pattern `id` anywhere and that have all `labels`. `may_request`: the
 * policies that such an agent may request.
 */
export type AssignRule = z.output<typeof rule>;

/** The assignment of policies to agents: the first matching rule, else the default. */
export type Assignment = {
  readonly hash: string;
  /** canonical JSON */
  readonly document: string;
  readonly rules: readonly AssignRule[];
  readonly fallback: string;
  readonly warnings: readonly string[];
};

/** The inputs of an assignment. `requestedPolicy`: the policy that the agent itself names. */
export type Assigned = {
  readonly agentId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly requestedPolicy: string | null;
};

/** The policies that an agent may request: their names, or any policy in force. */
export type Requestable = AssignRule['may_request'];

/** Without an assignment, every agent gets the policy that it requests if that is requestable, else the default. */
export const asRequested = (fallback: string, requestable: Requestable): Assignment =>
  readAssignment({ rules: [{ policy: fallback, may_request: requestable }], default: fallback }, ASSIGNMENT);

/** A document as parsed. Throws CorrectThePolicy with every mistake that can be found without the policies. */
export const readAssignment = (written: unknown, source: string): Assignment => {
  checkDepth(written, source);
  const read = reading(assignDocument, written);
  if (!('value' in read))
    throw new CorrectThePolicy(
      source,
      read.mistakes.map((mistake) => spelled(mistake)),
    );
  const { rules, default: fallback } = read.value;
  const document = canonicalJson(written);
  return { hash: contentHash(document), document, rules, fallback, warnings: unreachable(rules) };
};

/** The names of unknown policies. */
export const unknownIn = ({ rules, fallback }: Assignment, known: readonly string[]): string[] => {
  const named = [
    ...rules.flatMap(({ policy, may_request: requestable }, i) => [
      { at: place(['rules', i, 'policy']), name: policy },
      ...(requestable === 'any'
        ? []
        : requestable.map((name, j) => ({ at: place(['rules', i, 'may_request', j]), name }))),
    ]),
    { at: 'default', name: fallback },
  ];
  return named
    .filter(({ name }) => !known.includes(name))
    .map(({ at, name }) => `${at}: there is no policy ${name}: ${insteadOf(name, known)}`);
};

/** Returns a function from an agent to the name of its policy. `isThere`: whether a policy of that name is in force. */
export const assigner = (
  { rules, fallback }: Assignment,
  isThere: (name: string) => boolean,
): ((agent: Assigned) => string) => {
  const compiled = rules.map(({ id, ...rest }) => ({ ...rest, id: id === null ? null : RE2JS.compile(id) }));
  return ({ agentId, labels, requestedPolicy }) => {
    const held = compiled.find(
      (r) =>
        Object.entries(r.labels).every(([name, value]) => labels[name] === value) &&
        (r.id === null || r.id.matcher(agentId).find()),
    );
    if (!held) return fallback;
    const granted =
      requestedPolicy !== null &&
      (held.may_request === 'any' ? isThere(requestedPolicy) : held.may_request.includes(requestedPolicy));
    return granted ? requestedPolicy : held.policy;
  };
};

/** Whether an agent of some kind gets the policy: a rule assigns or permits it, or it is the default. */
export const isAssignable = ({ rules, fallback }: Assignment, name: string): boolean =>
  fallback === name ||
  rules.some(({ policy, may_request: requestable }) => {
    return policy === name || requestable === 'any' || requestable.includes(name);
  });

/** The warning about a policy that exists, and that an agent requests without permission. `judgedBy`: the policy that it gets. */
export const notPermitted = (requested: string, judgedBy: string): string =>
  `${ASSIGNMENT} does not permit ${requested}: this agent is judged by ${judgedBy}; add ${requested} to may_request of its rule, then vigil policy apply ${ASSIGNMENT}`;

const unreachable = (rules: readonly AssignRule[]): string[] =>
  rules.flatMap((later, i) => {
    const earlier = rules.findIndex((r, j) => j < i && covers(r, later));
    return earlier < 0 ? [] : `rules[${i}]: is never reached: rules[${earlier}] holds first; move it up, or remove it`;
  });

/** Whether the other rule has every condition of this one. */
const covers = (one: AssignRule, other: AssignRule): boolean =>
  (one.id === null || one.id === other.id) &&
  Object.entries(one.labels).every(([name, value]) => other.labels[name] === value);
