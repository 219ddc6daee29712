import type { EventOf, Topic } from '@vigil/events';

const MINUTE_MS = 60_000;
/** How long a ruling is valid. */
const VALID_MS = 30_000;
/**
 * A request that is older than this when there is room must have been read. On a busy host (load 13) ten seconds were
 * too few once in three runs.
 */
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
 * An admitted and used end. A case that begins with an end sends a soft request before. `place` and `askedAt`: of its
 * request, by the log.
 */
type Ended = {
  readonly agentId: string;
  readonly runtimeId: string | null;
  readonly at: number;
  readonly place: number;
  readonly askedAt: number;
};

/** In the order of their admissions, then of their requests. */
export const endsIn = ({ asked, rulings }: Governed): readonly Ended[] => {
  const unused = new Set(asked.flatMap(({ type, payload }) => (type === 'WITHDRAW_STEP' ? [payload.requestId] : [])));
  const requests = new Map(asked.map((one, place) => [`${one.type} ${one.payload.requestId}`, { one, place }]));
  const ends = rulings.flatMap(({ type, payload }): Ended[] => {
    const request = requests.get(`ADMIT_STEP ${payload.requestId}`);
    if (type !== 'STEP_ADMITTED' || payload.step !== 'terminate' || unused.has(payload.requestId)) return [];
    if (request?.one.type !== 'ADMIT_STEP' || request.one.payload.class !== 'destructive') return [];
    const { place, one } = request;
    const { runtimeId } = request.one.payload;
    const at = payload.validUntil - VALID_MS;
    return [{ agentId: payload.agentId, runtimeId, at, place, askedAt: one.record.timestamp }];
  });
  return ends.toSorted((a, b) => a.at - b.at || a.place - b.place);
};

/**
 * Names each minute with more ends than `perMinute`; one of several runtimes may have half of it. Names each skipped
 * request too, and each end for which there had been room before.
 */
export const budgetBroken = (governed: Governed, perMinute: number): readonly string[] =>
  endsIn(governed).flatMap((end, place, ends) => {
    const earlier = ends.slice(0, place);
    return [
      ...tooMany(end, earlier, perMinute),
      ...tooMany(end, ofRuntime(end, earlier), shareOf(perMinute)),
      ...passedOver(end, earlier, perMinute),
      ...idled(end, earlier, perMinute, governed.lookedAt),
    ];
  });

const shareOf = (perMinute: number): number => Math.ceil(perMinute / 2);

/** The runtime of an end; an agent without a runtime shares nothing. */
const ofRuntime = ({ runtimeId }: Ended, ends: readonly Ended[]): readonly Ended[] =>
  runtimeId === null ? [] : ends.filter((one) => one.runtimeId === runtimeId);

/** When one more end fits into a minute, after these. */
const fitsFrom = (earlier: readonly Ended[], most: number): number => {
  const first = earlier[earlier.length - most];
  return first === undefined ? Number.NEGATIVE_INFINITY : first.at + MINUTE_MS;
};

const roomFrom = (end: Ended, earlier: readonly Ended[], perMinute: number): number =>
  Math.max(fitsFrom(earlier, perMinute), fitsFrom(ofRuntime(end, earlier), shareOf(perMinute)));

const tooMany = ({ agentId, at }: Ended, earlier: readonly Ended[], most: number): readonly string[] => {
  const fits = fitsFrom(earlier, most);
  return at >= fits ? [] : [`${agentId}: number ${most + 1} within ${at - fits + MINUTE_MS} ms`];
};

/** A later request may be admitted first only while the runtime of the earlier one has used up its share. */
const passedOver = (end: Ended, earlier: readonly Ended[], perMinute: number): readonly string[] => {
  const other = earlier.find(
    ({ place, at }, n) => place > end.place && roomFrom(end, earlier.slice(0, n), perMinute) <= at,
  );
  return other === undefined ? [] : [`${end.agentId}: asked before ${other.agentId}, and ended after it`];
};

/**
 * The governor must not have decided between the time at which there was room again and the time at which it was used.
 */
const idled = (
  end: Ended,
  earlier: readonly Ended[],
  perMinute: number,
  lookedAt: readonly number[],
): readonly string[] => {
  const room = roomFrom(end, earlier, perMinute);
  const hasMissed = end.askedAt + SEEN_MS < room && lookedAt.some((look) => look > room && look < end.at);
  return hasMissed ? [`${end.agentId}: ended ${end.at - room} ms after there was room`] : [];
};
