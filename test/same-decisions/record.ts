import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { digests } from './canonical.ts';
import { baseline, fileOf, sources } from './decisions.ts';

/**
 * Records the baseline: node test/same-decisions/record.ts [words of a source's name] With --full FOLDER it writes
 * every decision there instead, so that two commits can be compared by `diff`.
 */
const { values, positionals } = parseArgs({ options: { full: { type: 'string' } }, allowPositionals: true });
const words = positionals.join(' ');
for (const [name, decide] of Object.entries(sources).filter(([one]) => one.includes(words))) {
  const lines = await decide();
  if (lines === null) continue;
  const folder = values.full ?? baseline;
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(name, folder), `${(values.full === undefined ? digests(lines) : lines).join('\n')}\n`);
  console.log(`${name}: ${lines.length} decisions`);
}
