import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { markdownOf, type Result } from './report.ts';

/** Prints the results that a folder has, a table for each: COMMIT/BENCHMARK.json. The newest is last. */
const folder = process.argv[2] ?? '';
const commits = existsSync(folder) ? readdirSync(folder) : [];
const results = commits
  .flatMap((commit) =>
    readdirSync(path.join(folder, commit)).map((file) => ({
      commit,
      result: JSON.parse(readFileSync(path.join(folder, commit, file), 'utf8')) as Result,
    })),
  )
  .toSorted((a, b) => a.result.at.localeCompare(b.result.at));
if (results.length === 0) console.log('No result is kept: run a benchmark first.');
for (const { commit, result } of results) {
  const { benchmark, at, machine, figures } = result;
  console.log(`\n${benchmark}, ${at} at ${commit}, ${machine.cores} cores (${machine.model}), Node ${machine.node}\n`);
  console.log(markdownOf(figures));
}
