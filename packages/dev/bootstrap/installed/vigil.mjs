#!/usr/bin/env node
// The command `vigil` of an installed @vigil/cli, on the machine's own Node.
import module from 'node:module';
import { filesFor } from '../../../cli/src/commands/commands.ts';
import { Refusal, report } from '../command.mjs';
import { runsOn } from '../node-version.mjs';

const since = process.hrtime.bigint();
const words = process.argv.slice(2);

/** The Node that a command needs. Words that name no command, such as `--help`, need no recent one. */
const nodeOf = (word) => {
  const files = filesFor(word);
  return files.length === 1 ? files[0].node : 'any';
};

const inPinnedNode = async () => {
  const { pinnedNode } = await import('./node.mjs');
  const { handOver } = await import('../hand-over.mjs');
  handOver(await pinnedNode(), process.argv.slice(1), process.env);
};

// An older Node has no compile cache.
module.enableCompileCache?.();
try {
  // A hook runs at every step of a session. It runs here, without the start of another Node, and never disturbs the session.
  if (words[0] === 'hook' && (words.length === 1 || words[1] === '--client'))
    await import('../../../hook/src/main.ts').then(
      ({ main }) => main(words[2] ?? 'claude-code', since),
      () => process.exit(0),
    );
  else if (runsOn(nodeOf(words[0]))) await import('../../../cli/src/main.ts');
  else await inPinnedNode();
} catch (error) {
  report(error instanceof Refusal ? error.message : error.stack);
  process.exit(1);
}
