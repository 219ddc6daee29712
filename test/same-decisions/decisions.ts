import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { HealthEvent } from '@vigil/events';
import { evaluate, policiesOf, type Recorded, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import fc from 'fast-check';
import { judgeOf, policyCalled } from '../../packages/cli/src/evaluate/evaluate.ts';
import { piecesOf } from '../../packages/cli/src/evaluate/records.ts';
import type { Law } from '../laws/simulation.ts';
import { stories } from '../laws/stories.ts';
import { play } from '../laws/story.ts';
import type { Moment } from '../support/refold.ts';
import { canonical, withNewNames } from './canonical.ts';
import { heartbeats } from './heartbeats.ts';

const traces = path.resolve(import.meta.dirname, '../../../shared/traces');

/** The folder of the baseline. */
export const baseline: string = path.join(import.meta.dirname, 'baseline');
export const fileOf = (source: string, folder: string): string =>
  path.join(folder, `${source.replaceAll(' ', '-')}.txt`);

export const presets: readonly string[] = readdirSync(PRESETS)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => path.basename(file, '.yaml'))
  .toSorted();

const GAP_MS = 5_000;

/**
 * The judgement of every recorded run under a preset, as printed by `vigil evaluate --json`; null if the runs are not
 * available.
 */
const judgedRuns = async (preset: string): Promise<readonly string[] | null> => {
  if (!existsSync(traces)) return null;
  const [judge, write] = [judgeOf(policyCalled(preset), GAP_MS), canonical()];
  const lines: string[] = [];
  for (const file of readdirSync(traces)
    .filter((name) => name.endsWith('.gz'))
    .toSorted())
    for await (const { read } of piecesOf(path.join(traces, file), { format: null, gap: GAP_MS }))
      for (const { run_id, judged } of read().flatMap(judge))
        lines.push(write({ run_id, worst: judged.worst, changes: judged.changes }));
  return lines;
};

const decidedOn = (preset: string, records: Iterable<Recorded>): readonly string[] => {
  const write = canonical();
  const policies = policiesOf(readPolicies([PRESETS], VOCABULARY), preset);
  return [...evaluate(policies, records)].flatMap(({ emitted, refused }) => [
    ...(refused === null ? [] : [write({ refused })]),
    ...emitted.map(({ topic, type, key, payload }) => write({ topic, type, key, payload })),
  ]);
};

/** Every event of all services in stories of agents, hosts and people that are drawn from one seed. */
const eventsOfStories = (count: number): readonly string[] =>
  fc.sample(stories, { numRuns: count, seed: 20_261_124 }).flatMap((story) => {
    const [lines, write]: [string[], (value: unknown) => string] = [[], canonical()];
    const writes: Law = {
      name: 'every event is written',
      onEvent: ({ topic, type, key, payload }: HealthEvent) => void lines.push(write({ topic, type, key, payload })),
    };
    play(story, [writes]);
    return lines;
  });

/**
 * Observations of a run on real servers, partition by partition, with the clock at each. The agents' own policy
 * requests are removed, and no agent was verified then.
 */
const decidedOnStored = (run: string): readonly string[] => {
  const lines = gunzipSync(readFileSync(path.join(import.meta.dirname, 'stored', `${run}.jsonl.gz`)))
    .toString()
    .trimEnd()
    .split('\n');
  const moments = lines.map((line) => withNewNames(JSON.parse(line)) as Moment);
  const withoutPolicyRequest = ({ clock, input }: Moment): Recorded =>
    input?.type === 'AGENT_HEARTBEAT'
      ? { clock, input: { ...input, payload: { ...input.payload, policy: null, verified: null } } }
      : { clock, input };
  return [...Map.groupBy(moments, ({ partition }) => partition).values()].flatMap((of) =>
    decidedOn('demo', of.map(withoutPolicyRequest)),
  );
};

/** The decisions, by the name of their source; null if the source is not available. */
export const sources: Readonly<Record<string, () => Promise<readonly string[] | null>>> = {
  ...Object.fromEntries(presets.map((preset) => [`recorded runs under ${preset}`, () => judgedRuns(preset)])),
  ...Object.fromEntries(
    presets.map((preset) => [
      `synthetic heartbeats under ${preset}`,
      async () => decidedOn(preset, heartbeats(10_000)),
    ]),
  ),
  ...Object.fromEntries(
    ['walkthrough', 'scenarios'].map((run) => [`observations of ${run}`, async () => decidedOnStored(run)]),
  ),
  'random stories': async () => eventsOfStories(100),
};
