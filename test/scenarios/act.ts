import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { bundleOf } from '@vigil/dev';
import { runtimeEnv } from '../support/runtimes.ts';
import type { TestSystem } from '../support/system.ts';

/**
 * A role. `part`: one of parts/; `policy`: a preset's name; `task`: another task than its own; `template`: further
 * fields of its template.
 */
export type Role = {
  readonly name: string;
  readonly part: string;
  readonly policy: string;
  readonly task?: string;
  readonly template?: object;
};

const CAPACITY = 60;

const runtimeConfig = (folder: string, act: string, roles: readonly Role[]): string =>
  JSON.stringify({
    runtime: act,
    capacity: CAPACITY,
    announce: '2s',
    grace: '500ms',
    interval: '1s',
    checkpoint_roots: [folder],
    work_source: { command: ['cat', 'tracker.json'], cwd: folder, interval: '2s' },
    templates: roles.map(({ name, part, policy, task = `T-${name}`, template }) => ({
      name,
      task,
      command: process.execPath,
      args: [path.join(folder, 'actor.js'), part, folder],
      cwd: folder,
      policy,
      release: ['sh', '-c', `echo "claim of ${task} as $VIGIL_TASK_LEFT"`],
      patterns: { error: ['^Error', 'API Error: 400'], result: ['^RESULT:'] },
      ...template,
    })),
    agents: roles.map(({ name, task = `T-${name}` }) => ({ name, task, template: name })),
  });

/** The actors as plain JavaScript, because dozens of them start at once on busy machines. */
export const dress = (folder: string): void => {
  mkdirSync(path.join(folder, 'parts'), { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const parts = readdirSync(path.join(import.meta.dirname, 'parts')).map((name) => `parts/${name}`);
  for (const name of ['actor.ts', 'craft.ts', '../support/alive.ts', ...parts]) {
    const text = stripTypeScriptTypes(readFileSync(path.join(import.meta.dirname, name), 'utf8'));
    const plain = text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'").replaceAll("from '../support/", "from './");
    writeFileSync(path.join(folder, name.replace('../support/', '').replace(/ts$/, 'js')), plain);
  }
};

/** Starts a runtime with these roles, and returns the function that ends it. */
export const startRuntime = (on: TestSystem, folder: string, act: string, roles: readonly Role[]) => {
  const config = path.join(folder, `${act}.yaml`);
  writeFileSync(config, runtimeConfig(folder, act, roles));
  const args = [bundleOf('vigil'), 'runtime', '--config', config];
  const env = {
    ...runtimeEnv(on, act, { capacity: CAPACITY, templates: roles }),
    VIGIL_STATE_DIR: path.join(folder, `${act}-state`),
  };
  const running = spawn(process.execPath, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  running.stderr?.on('data', (data) => appendFileSync(path.join(folder, `${act}.log`), data));
  return async (): Promise<void> => {
    running.kill('SIGTERM');
    if (running.exitCode === null && running.signalCode === null) await once(running, 'exit');
  };
};
