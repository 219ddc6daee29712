#!/usr/bin/env node
// `npx vigil …` from the clone, on the machine's own Node: hands over to the command line on the pinned one.
import path from 'node:path';
import { handOver } from './hand-over.mjs';
import { root } from './paths.mjs';
import { orRefuse, prepared } from './prepare.mjs';

const main = async () => {
  const { node } = await prepared();
  // Its own environment, not the tools': an agent under `vigil run` keeps the PATH it would have without.
  handOver(node, [path.join(root, 'packages/cli/src/main.ts'), ...process.argv.slice(2)], process.env);
};

main().catch(orRefuse);
