import path from 'node:path';
import { dependencies } from './dependencies.mjs';
import { root } from './paths.mjs';
import { Refusal, report } from './refusal.mjs';
import { toolchain } from './toolchain.mjs';

// What "npm start" exports about itself must not affect pnpm; registry, proxy and CA settings stay.
const NPM_OWN =
  /^npm_(lifecycle|package|command|execpath|node_execpath|config_(user_agent|prefix|global_prefix|local_prefix|node_gyp|noproxy|npm_version|init_module|globalconfig|nodedir|yes))/i;

const environment = ({ node, headers }) => {
  const kept = Object.entries(process.env).filter(([name]) => !NPM_OWN.test(name));
  const bins = [path.dirname(node), path.join(root, 'node_modules/.bin'), process.env.PATH];
  // The fetched Node ships its C headers, so that a native add-on can be built without a further download.
  const nodedir = headers === undefined ? {} : { npm_config_nodedir: headers };
  return { ...Object.fromEntries(kept), PATH: bins.join(path.delimiter), ...nodedir };
};

/** The pinned tools, installed when they are not, and the environment in which they are found. */
export const tools = async () => {
  const found = await toolchain();
  return { ...found, env: environment(found) };
};

/** The tools, and node_modules by the lock file. */
export const prepared = async () => {
  const found = await tools();
  await dependencies(found.pnpm, found.env);
  return found;
};

/** A refusal is one sentence; any other error is an internal one and keeps its stack. */
export const orRefuse = (error) => {
  report(error instanceof Refusal ? error.message : error.stack);
  process.exit(1);
};
