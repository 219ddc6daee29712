import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DESCRIBED, DESCRIBED_CODITECT, type Descriptions } from './support/accuracy/described.ts';
import { bySource, hanging, type Seen, type Source, seen, silenceUntilStuck } from './support/accuracy/measure.ts';
import { emptyMarks, withKnownOutcomes } from './support/accuracy/outcomes.ts';
import { type Hangs, nameOf, type Preset, page } from './support/accuracy/page.ts';
import { evaluated, type Run, readRuns } from './support/accuracy/runs.ts';
import { print } from './support/report.ts';

/** Measures the judgement of recorded runs, and writes docs/accuracy.md. */
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.resolve(process.env.VIGIL_TRACES || path.join(root, '../shared/traces'));
const POLICY = 'vigil';
const OTHERS = ['demo', 'coditect', 'botbox', 'gascity', 'omniclaude', 'hive'] as const;
const MOST_FLAGGED = 1 / 100;
const LEAST_CAUGHT = 95 / 100;

/** Flagged runs without a description, and descriptions without a flagged run, in words. */
const undescribed = (policy: string, sources: readonly Source[], described: Descriptions): readonly string[] => {
  const flagged = sources.flatMap((source) => source.flagged.map(nameOf));
  return [
    ...flagged
      .filter((name) => described[name] === undefined)
      .map((name) => `${name} is flagged by ${policy}: read it, and describe it in described.ts`),
    ...Object.keys(described)
      .filter((name) => !flagged.includes(name))
      .map((name) => `${name} is no longer flagged by ${policy}: remove it from described.ts`),
  ];
};

/** CODITECT promises fewer than 1 false positive in 100. */
const missedByCoditect = (sources: readonly Source[]): readonly string[] => {
  const [flagged, successes] = [sources.flatMap((one) => one.flagged), sources.flatMap((one) => one.successes)];
  return flagged.length < MOST_FLAGGED * successes.length
    ? []
    : [`coditect: ${flagged.length} of ${successes.length} successful runs are flagged`];
};

/** The requirements that a source does not meet, in words. */
const shortcomings = (sources: readonly Source[], hangs: Hangs): readonly string[] => {
  return [
    ...sources.flatMap(({ name, flagged: those, successes, loops, missed, late, rows }) => [
      ...(those.length > MOST_FLAGGED * successes.length
        ? [`${name}: ${those.length} of ${successes.length} successful runs are flagged`]
        : []),
      ...(loops.length - missed.length < LEAST_CAUGHT * loops.length
        ? [`${name}: ${missed.length} of ${loops.length} loops are missed`]
        : []),
      ...(rows.length - late.length < LEAST_CAUGHT * rows.length
        ? [`${name}: ${late.length} of ${rows.length} rows are caught after their fifth call`]
        : []),
    ]),
    ...undescribed(POLICY, sources, DESCRIBED),
    ...(hangs.found < hangs.of ? [`${hangs.of - hangs.found} hangs are not found`] : []),
  ];
};

const judge = async (runs: readonly Run[], policy: string): Promise<readonly Seen[]> => {
  const judged = await evaluated(runs, policy);
  return runs.flatMap((run, i) => {
    const one = judged[i];
    return one === undefined ? [] : [seen(run, one)];
  });
};

const injectedHangs = async (runs: readonly Run[]): Promise<Hangs> => {
  const long = runs.filter(({ success, calls }) => success && calls.length > 1);
  const after = (await judge(long.map(hanging), POLICY)).flatMap(
    ({ run, judged }) => silenceUntilStuck(run, judged) ?? [],
  );
  return { found: after.length, of: long.length, earliest: Math.min(...after), latest: Math.max(...after) };
};

const run = async (): Promise<void> => {
  if (!existsSync(folder))
    return print(`no recorded runs in ${folder}: docs/accuracy.md stays as it is (VIGIL_TRACES names another folder)`);
  const recorded = readRuns(folder);
  const runs = withKnownOutcomes(recorded);
  print(`judging ${runs.length} runs of ${folder} …`);
  const sources = bySource(await judge(runs, POLICY));
  const hangs = await injectedHangs(runs);
  const coditect = bySource(await judge(runs, 'coditect'));
  const presets: Preset[] = [{ policy: POLICY, sources }];
  for (const policy of OTHERS) {
    const judged = policy === 'coditect' ? coditect : bySource(await judge(runs, policy));
    presets.push({ policy, sources: judged });
  }
  const asMarked = bySource(await judge(recorded, 'coditect'));
  const marks = { empty: emptyMarks(recorded), asMarked };
  writeFileSync(path.join(root, 'docs/accuracy.md'), page(sources, hangs, presets, { coditect, marks }));
  print('docs/accuracy.md is written');
  const short = [
    ...shortcomings(sources, hangs),
    ...undescribed('coditect', coditect, DESCRIBED_CODITECT),
    ...missedByCoditect(coditect),
  ];
  for (const line of short) print(line);
  process.exitCode = short.length === 0 ? 0 : 1;
};

await run();
