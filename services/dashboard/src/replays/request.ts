import { VOCABULARY } from '@vigil/health';
import { type CompiledPolicy, CorrectThePolicy, compile } from '@vigil/policy';
import type { ReadModel } from '@vigil/read-model';
import { z } from 'zod';
import { badInput, found, Problem } from '../problem.ts';
import { instant } from '../routes/queries.ts';
import type { ReplaySpec } from './fold.ts';
import type { AskedReplay } from './replays.ts';

const id = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}*$/u, 'no name has control characters');
const span = {
  since: instant.optional().describe('compared from then on; without it from the first stored observation'),
  until: instant.optional().describe('compared until then; without it until the last stored observation'),
  agent: id.optional().describe('only this agent'),
};

/** What people may replay, as JSON. `figures`: what the signals of an agent showed. */
export const replayShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('verify'), ...span }),
  z.strictObject({
    kind: z.literal('what_if'),
    ...span,
    policy: id.optional().describe('the name of a published policy; this or document'),
    document: z.record(z.string(), z.unknown()).optional().describe('a policy; this or policy'),
    insteadOf: id.optional().describe('only for agents of this recorded policy; without it for all'),
  }),
  z.strictObject({
    kind: z.literal('figures'),
    since: instant.describe('the figures from then on'),
    until: instant.describe('the figures until then'),
    agent: id.describe('of this agent'),
  }),
]);

type Asked = z.output<typeof replayShape>;
type WhatIf = Extract<Asked, { kind: 'what_if' }>;

/** Throws Problem 422 with every mistake. A published policy of a newer version has some, too. */
const compiled = (document: unknown, field: 'document' | 'policy'): CompiledPolicy => {
  try {
    return compile(document, field, VOCABULARY);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Problem(422, 'bad_policy', error.message, field);
    throw error;
  }
};

const published = async (
  name: string,
  model: Pick<ReadModel, 'policies' | 'policyDocument'>,
): Promise<CompiledPolicy> => {
  const policy = (await model.policies()).find((one) => one.name === name);
  const document = await (policy === undefined ? null : model.policyDocument(policy.hash));
  return compiled(JSON.parse(found(document, 'policy', name, '`vigil policy list` (/v1/policies)')), 'policy');
};

const policyOf = async (
  { policy, document }: WhatIf,
  model: Parameters<typeof published>[1],
): Promise<CompiledPolicy> => {
  if ((policy === undefined) === (document === undefined))
    throw new Problem(400, 'bad_replay', 'policy: give either the name of a published policy, or a document', 'policy');
  return policy === undefined ? compiled(document, 'document') : published(policy, model);
};

/** Reads what is asked. Throws Problem 400 with the field, 404 for an unknown policy, or 422 with every mistake of a document. */
export const readReplay = async (
  body: unknown,
  model: Parameters<typeof published>[1],
): Promise<Omit<AskedReplay, 'by'>> => {
  const read = replayShape.safeParse(body);
  if (!read.success) throw badInput('bad_replay', read.error, body, 'kind');
  const { since = null, until = null, agent = null } = read.data;
  if (since !== null && until !== null && since > until)
    throw new Problem(400, 'bad_replay', 'until: the span ends before it begins: exchange since and until', 'until');
  if (read.data.kind === 'figures') {
    const { since: from, until: to, agent: one } = read.data;
    return { spec: { kind: 'figures', span: { from, to, agent: one } }, policy: null };
  }
  const asked = { from: since, to: until, agent };
  if (read.data.kind === 'verify') return { spec: { kind: 'verify', span: asked }, policy: null };
  const policy = await policyOf(read.data, model);
  const spec: ReplaySpec = {
    ...{ kind: 'what_if', span: asked, document: policy.document },
    insteadOf: read.data.insteadOf ?? 'all',
  };
  return { spec, policy: { name: policy.name, hash: policy.hash } };
};
