import type { EventOf, Topic } from '@vigil/events';

const MINUTE_MS = 60_000;
/** How long a ruling may be used: it was made so long before it ends. */
const VALID_MS = 30_000;
/** A request this long before there was room had been read by then: on a busy host (load 13) ten seconds were too few once in three runs. */
const SEEN_MS = 30_000;

type Stamped<E> = E & { readonly record: { readonly timestamp: number } };

/**
 * The requests to the governor and its rulings, both in the order of their topics, and its ticks; epoch milliseconds.
 */
export type Governed = {
  readonly asked: readonly Stamped<EventOf<typeof Topic.admitStep>>[];
  readonly rulings: readonly EventOf<typeof Topic.stepRuling>[];
  readonly lookedAt: readonly number[];
};
/**
 * An end that was admitted and used; a case that begins with one sends a soft request before. `place` and `askedAt`: of
 * its request, by the log.
 */
type Ended = { readonly agentId: string; readonly at: number; readonly place: number; readonly askedAt: number };

/** In the order of their admissions, then of their requests. */
export const endsIn = ({ asked, rulings }: Governed): readonly Ended[] => {
  const unused = new Set(asked.flatMap(({ type, payload }) => (type === 'WITHDRAW_STEP' ? [payload.requestId] : [])));
  const requests = new Map(asked.map((one, place) => [`${one.type} ${one.payload.requestId}`, { one, place }]));
  const ends = rulings.flatMap(({ type, payload }): Ended[] => {
    const request = requests.get(`ADMIT_STEP ${payload.requestId}`);
    if (type !== 'STEP_ADMITTED' || payload.step !== 'terminate' || unused.has(payload.requestId)) return [];
    if (request?.one.type !== 'ADMIT_STEP' || request.one.payload.class !== 'destructive') return [];
    const { place, one } = request;
    return [{ agentId: payload.agentId, at: payload.validUntil - VALID_MS, place, askedAt: one.record.timestamp }];
  });
  return ends.toSorted((a, b) => a.at - b.at || a.place - b.place);
};

/**
 * Names each minute with more ends than `perMinute`, each skipped request, and each end for which there had been room
 * before.
 */
export const budgetBroken = (governed: Governed, perMinute: number): readonly string[] =>
  endsIn(governed).flatMap((end, place, ends) => [
    ...tooMany(end, ends[place - perMinute], perMinute),
    ...passedOver(end, ends[place - 1]),
    ...idled(end, ends[place - perMinute], governed.lookedAt),
  ]);

const tooMany = ({ agentId, at }: Ended, earlier: Ended | undefined, perMinute: number): readonly string[] =>
  earlier === undefined || at - earlier.at >= MINUTE_MS
    ? []
    : [`${agentId}: number ${perMinute + 1} within ${at - earlier.at} ms`];

const passedOver = ({ agentId, place }: Ended, before: Ended | undefined): readonly string[] =>
  before === undefined || before.place < place
    ? []
    : [`${agentId}: asked before ${before.agentId}, and ended after it`];

/** Between the moment from which there was room again and the one at which it was used, the governor must not have looked. */
const idled = (
  { agentId, at, askedAt }: Ended,
  earlier: Ended | undefined,
  lookedAt: readonly number[],
): readonly string[] => {
  if (earlier === undefined) return [];
  const roomFrom = earlier.at + MINUTE_MS;
  const hasMissed = askedAt + SEEN_MS < roomFrom && lookedAt.some((look) => look > roomFrom && look < at);
  return hasMissed ? [`${agentId}: ended ${at - roomFrom} ms after there was room`] : [];
};
