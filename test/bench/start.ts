import { startDemonstration } from './support/demonstration.ts';
import { RUNS } from './support/ground.ts';
import { print, report } from './support/report.ts';

/** Measures the time from `npm start`, on a clone in which it has run before, to each stage. */
const seconds = new Map<string, number[]>();
for (let run = 0; run <= RUNS; run++) {
  const { stages, ...demonstration } = await startDemonstration();
  await demonstration[Symbol.asyncDispose]();
  print(run === 0 ? 'the first start only warms the clone' : `run ${run} of ${RUNS}`);
  if (run === 0) continue;
  // Counts in a name differ between runs.
  for (const stage of stages) {
    const name = stage.name.replace(/ \(.*\)$/, '');
    seconds.set(name, [...(seconds.get(name) ?? []), stage.seconds]);
  }
}
report(
  'start',
  [...seconds].map(([name, runs]) => ({ name, unit: 's', runs })),
);
