import { createHash } from 'node:crypto';
import type { PlanStep } from '@vigil/events';
import { stepOf } from '@vigil/policy';

/** Names that have changed since the baseline was recorded: the new one, and the one that the baseline has. */
export const RENAMED: readonly (readonly [string, string])[] = [
  ['onex.cmd.heartbeat-ingest.control-agent.v1', 'onex.cmd.heartbeat-ingest.steer-agent.v1'],
  ['onex.cmd.intervention.control-fleet.v1', 'onex.cmd.intervention.steer-fleet.v1'],
  ['onex.cmd.alerting.control-alerts.v1', 'onex.cmd.alerting.steer-alerts.v1'],
  ['ingress', 'door'],
  ['ingresses', 'doors'],
  ['agent_heartbeat_at', 'agent_beat_at'],
];

/** Fields of events that were added since the baseline was recorded. They are not compared. */
const ADDED: ReadonlySet<string> = new Set([
  'verified',
  'previousPlace',
  'resetAttempts',
  'maxAttemptsPerHour',
  'maxPerHour',
  'confidence',
]);

const withoutAdded = (field: string, value: unknown): unknown => (ADDED.has(field) ? undefined : value);

/** Sentences that have changed since the baseline was recorded: the new one, and the one that the baseline has. */
const REWORDED: readonly (readonly [string, string])[] = [
  ['asks-handoff', 'hands-over'],
  ['a person decides it', 'a person says so'],
  ['and no request for another agent followed', 'and nobody asks for another'],
  [', decided by ', ', says '],
  ['its end is not confirmed, nothing is spawned', 'nobody has confirmed its end, nothing is spawned'],
  ['it was over before it was reported', 'it was over before it was heard'],
  ['and its death is not confirmed: end it', 'and nobody has confirmed its death: end it'],
  ['it reports that it is', 'it says that it is'],
  ['it does not report that it is', 'it does not say that it is'],
  ['no heartbeat of its own', 'no beat of its own'],
  ['calls in a row that reported nothing new', 'calls in a row that told nothing new'],
  ['the warrant is void: it was not renewed', 'the warrant is void: nobody has renewed it'],
  ['another instance is alive', 'another instance lives'],
  ['the dry run has reported already what', 'the dry run has said already what'],
  ['steps only report what they would do', 'steps only say what they would do'],
  ['the first steps of the plan have only been reported', 'what comes first in the plan has only been said'],
  ['its end is not confirmed', 'nobody has confirmed its end'],
  ['or none of them is awaited any more', 'or nobody waits for them any more'],
  ['over half of the lost agents send heartbeats again', 'over half of the lost agents beat again'],
  ['send heartbeats for a minute, or', 'beat for a minute, or'],
  ['it has had no work for 30 days', 'nobody has worked on it for 30 days'],
  [' is alive as ', ' lives on as '],
];

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const REWORDED_ANYWHERE = new RegExp(REWORDED.map(([now]) => escaped(now)).join('|'));

/** Hardly any of a million texts contains one of the sentences, so one search is cheaper than a search for each. */
const withOldSentences = (text: string): string =>
  REWORDED_ANYWHERE.test(text)
    ? REWORDED.reduce((reworded, [now, before]) => reworded.replaceAll(now, before), text)
    : text;

const OLD: ReadonlyMap<string, string> = new Map(RENAMED);
const NEW: ReadonlyMap<string, string> = new Map(RENAMED.map(([now, before]) => [before, now]));

const isPlan = (value: unknown): value is readonly PlanStep[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && 'interrogate' in one);

/** Plans and recovery settings were JSON in texts when the baseline was recorded. */
const asText = (key: string, value: unknown): unknown => {
  if (key === 'plan' && isPlan(value)) return JSON.stringify(value.map(stepOf));
  return key === 'recovery' && value !== null && typeof value === 'object'
    ? JSON.stringify(value, withoutAdded)
    : value;
};

const mapped = (value: unknown, names: ReadonlyMap<string, string>, text: (one: string) => string): unknown => {
  if (typeof value === 'string') return text(names.get(value) ?? value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, names, text));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [names.get(key) ?? key, mapped(asText(key, one), names, text)]),
  );
};

/** A stored value with today's names. */
export const withNewNames = (value: unknown): unknown => mapped(value, NEW, (text) => text);

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,64}\b/g;

/** Writes values as the baseline has them: with the old names, and with a number in place of each id that is a hash of names. */
export const canonical = (): ((value: unknown) => string) => {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const known = ids.get(id) ?? `#${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  return (value) =>
    JSON.stringify(
      mapped(value, OLD, (text) => withOldSentences(text).replaceAll(ID, numbered)),
      withoutAdded,
    );
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
