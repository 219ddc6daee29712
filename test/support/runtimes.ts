import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf, type Supervised, supervise } from '@vigil/dev';
import type { TestSystem } from './system.ts';

/** The working folder of a runtime and its state folder. The latter has a short path, because it contains sockets. */
export type Place = { readonly folder: string; readonly state: string };

/** What the claims of a runtime's token follow from. */
type Config = {
  readonly capacity: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly policy?: string;
  readonly templates?: readonly (object & { readonly policy?: unknown })[];
};

/** A token as an operator creates it for a host: of its runtime, for all tasks, with its own labels and policies. */
export const runtimeToken = ({ system }: TestSystem, runtime: string, config: Config): string => {
  const { capacity, labels = {}, policy, templates = [] } = config;
  const policies = [policy, ...templates.map((template) => template.policy)].filter((one) => typeof one === 'string');
  const permitted = Object.entries({ ...labels, host: '*' }).flatMap(([name, value]) => [
    '--label',
    `${name}=${value}`,
  ]);
  const requested = [...new Set(policies)].flatMap((name) => ['--policy', name]);
  const claims = ['--tasks', '*', ...requested, '--capacity', String(capacity), ...permitted];
  const args = [bundleOf('vigil'), 'token', 'create', 'runtime', runtime, ...claims];
  for (let attempt = 1; ; attempt += 1) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      env: { ...process.env, ...system.env },
      encoding: 'utf8',
    });
    if (status === 0) return stdout.trim();
    // The suites of faults restart the gateway.
    if (attempt === 20) throw new Error(`no token for ${runtime}: ${stderr}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
};

/** The environment of a runtime: the gateway and its own token. It does not get those of people. */
export const runtimeEnv = (on: TestSystem, runtime: string, config: Config): NodeJS.ProcessEnv => ({
  ...process.env,
  VIGIL_GATEWAY_URL: on.system.env.VIGIL_GATEWAY_URL,
  VIGIL_GATEWAY_TOKEN: runtimeToken(on, runtime, config),
});

/**
 * A `vigil runtime` that is restarted whenever it ends, as on a host. `config`: the content of its file, without its
 * name.
 */
export const startRuntime = <Whole extends Config>(
  on: TestSystem,
  { folder, state }: Place,
  runtime: string,
  config: Whole,
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
    env: { ...runtimeEnv(on, runtime, config), VIGIL_STATE_DIR: path.join(state, runtime) },
  };
  return supervise(spec, () => {});
};

/** Ends it at once; it is not restarted. */
export const switchOff = async (runtime: Supervised): Promise<void> => {
  const stopped = runtime.stop();
  runtime.kill('SIGKILL');
  await stopped;
};
