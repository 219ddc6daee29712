import type { Speed, Speeds } from '@vigil/read-model';

/** A histogram of a service's metrics, for one processor. */
type Measured = { readonly service: string; readonly metric: string; readonly processor: string };

const MEASURED = {
  check: {
    ...{ service: 'health-evaluator', processor: 'health-evaluator' },
    metric: 'vigil_transaction_duration_seconds',
  },
  heartbeat: {
    ...{ service: 'heartbeat-ingest', processor: 'heartbeat-ingest' },
    metric: 'vigil_transaction_duration_seconds',
  },
  transition: {
    ...{ service: 'health-evaluator', processor: 'health-evaluator' },
    metric: 'vigil_deadline_lateness_seconds',
  },
} satisfies Record<keyof Speeds, Measured>;

const SHARE = 0.95;
const NONE: Speed = { count: 0, p95AtMostMs: null };

const labelIn = (labels: string, name: string): string | null =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? null;

/**
 * The bound of the bucket that has the 95th percentile. `text`: as `/metrics` answers it. Null: nothing was measured, or it took
 * longer than the largest bound.
 */
export const speedIn = (text: string, metric: string, processor: string): Speed => {
  const buckets: { readonly bound: number; readonly count: number }[] = [];
  for (const [, labels = '', count] of text.matchAll(new RegExp(`^${metric}_bucket\\{([^}]*)\\} (\\S+)`, 'gm'))) {
    const bound = labelIn(labels, 'le');
    if (labelIn(labels, 'processor') !== processor || bound === null) continue;
    buckets.push({ bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count: Number(count) });
  }
  const count = Math.max(0, ...buckets.map((bucket) => bucket.count));
  if (count === 0) return NONE;
  const bounds = buckets.filter((bucket) => bucket.count >= SHARE * count).map(({ bound }) => bound);
  const bound = Math.min(...bounds);
  return { count, p95AtMostMs: Number.isFinite(bound) ? bound * 1000 : null };
};

const LIMIT_MS = 2000;

/** How fast the services work since they started, by their own metrics. A service that does not answer has no figure. */
export const speedsFrom =
  (probes: readonly (readonly [service: string, url: string])[]) => async (): Promise<Speeds> => {
    const read = async (service: string): Promise<string> => {
      const url = probes.find(([name]) => name === service)?.[1];
      if (url === undefined) return '';
      const answer = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(LIMIT_MS) }).catch(() => null);
      return answer?.ok === true ? answer.text().catch(() => '') : '';
    };
    const services = [...new Set(Object.values(MEASURED).map(({ service }) => service))];
    const texts = new Map(await Promise.all(services.map(async (name) => [name, await read(name)] as const)));
    const speed = ({ service, metric, processor }: Measured): Speed =>
      speedIn(texts.get(service) ?? '', metric, processor);
    return {
      check: speed(MEASURED.check),
      heartbeat: speed(MEASURED.heartbeat),
      transition: speed(MEASURED.transition),
    };
  };
