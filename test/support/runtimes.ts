import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf, type Supervised, supervise } from '@vigil/dev';
import type { TestSystem } from './system.ts';

/** Where a runtime works and keeps its state: the latter by a short path, since there are sockets below it. */
export type Place = { readonly folder: string; readonly state: string };

/** A `vigil runtime` as its host runs it: started again whenever it ends. `config`: as in its file, without its name. */
export const startRuntime = (
  { system }: TestSystem,
  { folder, state }: Place,
  runtime: string,
  config: object,
): Supervised => {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${runtime}.yaml`);
  writeFileSync(file, JSON.stringify({ runtime, ...config }));
  const spec = {
    name: runtime,
    dir: folder,
    command: process.execPath,
    args: [bundleOf('vigil'), 'runtime', '--config', file],
    cwd: folder,
    env: { ...process.env, ...system.env, VIGIL_STATE_DIR: path.join(state, runtime) },
  };
  return supervise(spec, () => {});
};

/** Ends it at once; it is not restarted. */
export const switchOff = async (runtime: Supervised): Promise<void> => {
  const stopped = runtime.stop();
  runtime.kill('SIGKILL');
  await stopped;
};
