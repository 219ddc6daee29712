// Hands over to the command line on the pinned Node.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { handOver } from './hand-over.mjs';
import { root } from './paths.mjs';
import { orRefuse, prepared } from './prepare.mjs';

/** Addresses and tokens of the system that `npm start` runs here; what the environment says goes first. */
const running = () => {
  const file = path.join(root, '.vigil/start.env');
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
};

const main = async () => {
  const { node } = await prepared();
  // Its own environment, not the tools': an agent under `vigil run` keeps the PATH it would have without.
  handOver(node, [path.join(root, 'packages/cli/src/main.ts'), ...process.argv.slice(2)], {
    ...running(),
    ...process.env,
  });
};

main().catch(orRefuse);
