import { type Draft, type EventOf, type PayloadOf, Topic } from '@vigil/events';
import { ASSIGNMENT, type PolicySet, type Provenance } from '@vigil/policy';
import { type Log, readAndFollow } from '@vigil/stream';

export type Publication = PayloadOf<typeof Topic.policy, 'POLICY_PUBLISHED'>;
type PolicyDraft = Draft<typeof Topic.policy>;

/** What the topic says already: of each name the newest publication, and which refusals were told. */
export type Published = { readonly newest: ReadonlyMap<string, Publication>; readonly refusals: ReadonlySet<string> };

/** Everything in force as it is to be published, by name. */
export function publications({
  policies,
  assignment,
}: PolicySet): ReadonlyMap<string, Publication & { at: number | null }> {
  const payload = ({ origin, by, why, at }: Provenance, name: string, of: { hash: string; document: string }) =>
    [name, { name, hash: of.hash, document: of.document, by, origin, why, withdrawn: false, at }] as const;
  return new Map([
    ...policies.map((held) => payload(held, held.policy.name, held.policy)),
    payload(assignment, ASSIGNMENT, assignment.assignment),
  ]);
}

/** What has to be said so that the topic tells what is in force: documents that are new, and names that are gone. `at`: where none is known. */
export function unsaid(
  set: PolicySet,
  { newest }: Published,
  now: number,
): readonly { draft: PolicyDraft; at: number }[] {
  const wanted = publications(set);
  const fresh = [...wanted.values()].filter((one) => !isSaid(one, newest.get(one.name)));
  const gone = [...newest.values()].filter(({ name, withdrawn }) => !withdrawn && !wanted.has(name));
  return [
    ...fresh.map(({ at, ...payload }) => ({ draft: published(payload), at: at ?? now })),
    ...gone.map((payload) => ({ draft: published({ ...payload, withdrawn: true }), at: now })),
  ];
}

const isSaid = (one: Publication, said: Publication | undefined): boolean =>
  said !== undefined && !said.withdrawn && said.hash === one.hash && said.origin === one.origin && said.why === one.why;

function published(payload: Publication): PolicyDraft {
  const { name, hash } = payload;
  return { topic: Topic.policy, type: 'POLICY_PUBLISHED', key: hash, payload, policy: { name, hash } };
}

/** Reads the topic to its end. */
export async function readPublished(log: Log): Promise<Published> {
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
}
