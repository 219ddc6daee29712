import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DESCRIBED } from './support/accuracy/described.ts';
import { bySource, hanging, type Seen, type Source, seen, silenceUntilStuck } from './support/accuracy/measure.ts';
import { type Hangs, nameOf, page } from './support/accuracy/page.ts';
import { evaluated, type Run, readRuns } from './support/accuracy/runs.ts';
import { print } from './support/report.ts';

/** Measures the judgement of recorded runs, and writes docs/accuracy.md. */
const root = path.resolve(import.meta.dirname, '../..');
const folder = path.resolve(process.env.VIGIL_TRACES || path.join(root, '../shared/traces'));
const POLICY = 'vigil';
const OTHERS = ['demo', 'coditect', 'botbox', 'gascity', 'omniclaude', 'hive'] as const;
const MOST_FLAGGED = 1 / 100;
const LEAST_CAUGHT = 95 / 100;

/** The requirements that a source does not meet, in words. */
const shortcomings = (sources: readonly Source[], hangs: Hangs): readonly string[] => {
  const flagged = sources.flatMap((source) => source.flagged.map(nameOf));
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
    ...flagged
      .filter((name) => DESCRIBED[name] === undefined)
      .map((name) => `${name} is flagged: read it, and describe it in described.ts`),
    ...Object.keys(DESCRIBED)
      .filter((name) => !flagged.includes(name))
      .map((name) => `${name} is no longer flagged: take it out of described.ts`),
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
  const runs = readRuns(folder);
  print(`judging ${runs.length} runs of ${folder} …`);
  const sources = bySource(await judge(runs, POLICY));
  const hangs = await injectedHangs(runs);
  const presets = [{ policy: POLICY, sources }];
  for (const policy of OTHERS) presets.push({ policy, sources: bySource(await judge(runs, policy)) });
  writeFileSync(path.join(root, 'docs/accuracy.md'), page(sources, hangs, presets));
  print('docs/accuracy.md is written');
  const short = shortcomings(sources, hangs);
  for (const line of short) print(line);
  process.exitCode = short.length === 0 ? 0 : 1;
};

await run();
