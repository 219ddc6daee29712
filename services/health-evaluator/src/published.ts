import { type Draft, type EventOf, type PayloadOf, Topic } from '@vigil/events';
import { ASSIGNMENT, type PolicySet, type Provenance } from '@vigil/policy';
import { type Log, readAndFollow } from '@vigil/stream';

export type Publication = PayloadOf<typeof Topic.policy, 'POLICY_PUBLISHED'>;
type PolicyDraft = Draft<typeof Topic.policy>;

/** What the topic has: the newest publication of each name, and the published refusals. */
export type Published = { readonly newest: ReadonlyMap<string, Publication>; readonly refusals: ReadonlySet<string> };

/** Everything in force in its published form, by name. */
export const publications = ({
  policies,
  assignment,
}: PolicySet): ReadonlyMap<string, Publication & { at: number | null }> => {
  const payload = ({ origin, by, why, at }: Provenance, name: string, of: { hash: string; document: string }) =>
    [name, { name, hash: of.hash, document: of.document, by, origin, why, withdrawn: false, at }] as const;
  return new Map([
    ...policies.map((held) => payload(held, held.policy.name, held.policy)),
    payload(assignment, ASSIGNMENT, assignment.assignment),
  ]);
};

/**
 * What has to be published so that the topic has the policies in force: new documents, and removed names. `at`: their
 * time where it is unknown.
 */
export const unpublished = (
  set: PolicySet,
  { newest }: Published,
  now: number,
): readonly { draft: PolicyDraft; at: number }[] => {
  const inForce = publications(set);
  const fresh = [...inForce.values()].filter((one) => !isPublished(one, newest.get(one.name)));
  const gone = [...newest.values()].filter(({ name, withdrawn }) => !withdrawn && !inForce.has(name));
  return [
    ...fresh.map(({ at, ...payload }) => ({ draft: published(payload), at: at ?? now })),
    ...gone.map((payload) => ({ draft: published({ ...payload, withdrawn: true }), at: now })),
  ];
};

const isPublished = (one: Publication, published: Publication | undefined): boolean =>
  published !== undefined &&
  !published.withdrawn &&
  published.hash === one.hash &&
  published.origin === one.origin &&
  published.why === one.why;

const published = (payload: Publication): PolicyDraft => {
  const { name, hash } = payload;
  return { topic: Topic.policy, type: 'POLICY_PUBLISHED', key: hash, payload, policy: { name, hash } };
};

/** Reads the topic to its end. */
export const readPublished = async (log: Log): Promise<Published> => {
  const newest = new Map<string, Publication>();
  const refusals = new Set<string>();
  const over = new AbortController();
  const onEvent = ({ type, key, payload }: EventOf<typeof Topic.policy>) => {
    if (type === 'POLICY_REFUSED') refusals.add(key);
    else newest.set(payload.name, payload);
  };
  await readAndFollow(log, Topic.policy, { onEvent, onUnreadable: () => {}, signal: over.signal });
  over.abort();
  return { newest, refusals };
};
