import { createHash } from 'node:crypto';

/** Names that have changed since the observations of `stored/` were recorded: the old one, and the new one. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['onex.cmd.heartbeat-ingest.steer-agent.v1', 'onex.cmd.heartbeat-ingest.control-agent.v1'],
  ['onex.cmd.intervention.steer-fleet.v1', 'onex.cmd.intervention.control-fleet.v1'],
  ['onex.cmd.alerting.steer-alerts.v1', 'onex.cmd.alerting.control-alerts.v1'],
  ['door', 'ingress'],
  ['doors', 'ingresses'],
  ['agent_beat_at', 'agent_heartbeat_at'],
]);

/** A stored value with today's names. */
export const withNewNames = (value: unknown): unknown => {
  if (typeof value === 'string') return RENAMED.get(value) ?? value;
  if (Array.isArray(value)) return value.map(withNewNames);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [RENAMED.get(key) ?? key, withNewNames(one)]));
};

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,64}\b/g;

/**
 * Fields of events that were added since the baseline was recorded. They are not compared. Empty this list with
 * the next `npm run decisions`.
 */
const ADDED: ReadonlySet<string> = new Set(['askedText', 'isExpired', 'waitSince']);

/** Writes values as JSON, with a number in place of each id that is a hash of names. */
export const canonical = (): ((value: unknown) => string) => {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const known = ids.get(id) ?? `#${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  const shown = (field: string, one: unknown): unknown => {
    if (ADDED.has(field)) return undefined;
    return typeof one === 'string' ? one.replaceAll(ID, numbered) : one;
  };
  return (value) => JSON.stringify(value, shown);
};

const LINES = 200;

/** A short hash of every 200 lines, and how many there are: the lines themselves take 15 MB. */
export const digests = (lines: readonly string[]): readonly string[] => {
  const chunks = Array.from({ length: Math.ceil(lines.length / LINES) }, (_, n) =>
    lines.slice(n * LINES, (n + 1) * LINES),
  );
  const hashes = chunks.map((chunk) => createHash('sha256').update(chunk.join('\n')).digest('hex').slice(0, 12));
  return [`${lines.length} lines`, ...hashes];
};

/** What differs from the baseline, and what to do; null: nothing. Both are of `digests`. */
export const differenceOf = (found: readonly string[], recorded: readonly string[]): string | null => {
  const [count = '', ...hashes] = found;
  const [countBefore = '', ...before] = recorded;
  const first = hashes.findIndex((hash, n) => hash !== before[n]);
  if (first < 0 && count === countBefore) return null;
  const place = first < 0 ? hashes.length : first;
  return [
    `the decisions differ from the baseline from line ${place * LINES + 1} on (${count}, ${countBefore} in the baseline).`,
    'An event has a new field, and nothing else has changed: add its name to ADDED in test/same-decisions/canonical.ts.',
    'Decisions have changed on purpose: npm run decisions. To see what has changed: test/same-decisions/README.md.',
  ].join('\n');
};
