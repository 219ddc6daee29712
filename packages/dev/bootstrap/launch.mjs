// Runs the command line: in this process if its Node runs the command, otherwise in the pinned Node.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundles, freshBuild, root, runsHere } from './bundles.mjs';
import { readStartEnv } from './start-env.mjs';

const program = path.join(bundles, 'vigil.mjs');

/** Addresses and tokens of the system that `npm start` runs here; the environment has precedence. */
const running = () => {
  const file = path.join(root, '.vigil/start.env');
  return existsSync(file) ? readStartEnv(readFileSync(file, 'utf8')) : starting();
};

/** The process of an `npm start` here that has not come up, or is ending. */
const starting = () => {
  try {
    const [pid] = readFileSync(path.join(root, '.vigil/run/npm-start.pid'), 'utf8').split(' ');
    process.kill(Number(pid), 0);
    return { VIGIL_STARTING: pid };
  } catch {
    return {};
  }
};

/** The Node that runs the bundles. A fresh build implies installed tools and dependencies. */
const nodeOfBuild = async () => {
  const build = freshBuild(process.argv[2]);
  if (build !== null && runsHere(build, process.argv[2])) return process.execPath;
  if (build !== null && existsSync(build.node)) return build.node;
  const { orRefuse, prepareBundles, prepared } = await import('./prepare.mjs');
  const tools = await prepared().catch(orRefuse);
  await prepareBundles(tools).catch(orRefuse);
  return tools.node;
};

const node = await nodeOfBuild();
// The command gets its own environment, not that of the tools, so that an agent under `vigil run` keeps its PATH.
// `vigil up` starts servers, so it must not find those of a start that was killed.
const env = process.argv[2] === 'up' ? process.env : { ...running(), ...process.env };
if (node === process.execPath) {
  Object.assign(process.env, env);
  process.argv[1] = program;
  await import(pathToFileURL(program).href);
} else {
  const { handOver } = await import('./hand-over.mjs');
  handOver(node, [program, ...process.argv.slice(2)], env);
}
