import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf, type Supervised, supervise } from '@vigil/dev';
import type { TestSystem } from './system.ts';

/** The working folder of a runtime and its state folder. The latter has a short path, because it contains sockets. */
export type Place = { readonly folder: string; readonly state: string };

/**
 * A `vigil runtime` that is restarted whenever it ends, as on a host. `config`: the content of its file, without its
 * name.
 */
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
