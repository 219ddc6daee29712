// Plain JavaScript for any Node from 18 on: installs the pinned toolchain and the dependencies, then starts the command.
//   node packages/dev/bootstrap/run.mjs ENTRY.ts [args…]    an entry, on the pinned Node
//   node packages/dev/bootstrap/run.mjs --pnpm [args…]      the pinned pnpm
//   node packages/dev/bootstrap/run.mjs --exec TOOL [args…] a tool of node_modules/.bin
import path from 'node:path';
import { root } from './bundles.mjs';
import { Refusal } from './command.mjs';
import { handOver } from './hand-over.mjs';
import { orRefuse, prepareBundles, prepared, tools } from './prepare.mjs';

/** Entries that start Vigil's programs. */
const STARTS_VIGIL = /\/(?:start|bench|screenshots)\.ts$/;

const main = async ([first, ...rest]) => {
  if (first === undefined) throw new Refusal('usage: run.mjs ENTRY.ts [args…] | --pnpm [args…] | --exec TOOL [args…]');
  if (first === '--pnpm') {
    const { pnpm, env } = await tools();
    return handOver(pnpm, rest, env);
  }
  const found = await prepared();
  const { node, env } = found;
  if (STARTS_VIGIL.test(first)) await prepareBundles(found);
  if (first === '--exec') return handOver(path.join(root, 'node_modules/.bin', rest[0] ?? ''), rest.slice(1), env);
  // A killed parent forwards no signal, so an entry checks by itself whether this process still runs.
  const watching = { ...env, VIGIL_HANDED_OVER_BY: String(process.pid) };
  return handOver(node, [path.resolve(root, first), ...rest], watching, 0);
};

main(process.argv.slice(2)).catch(orRefuse);
