import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleOf, supervise } from '@vigil/dev';
import { type TestSystem, until } from '../support/system.ts';
import { createToken } from './principals.ts';

/** An agent that copies its own environment and that of its parent, and works on. */
const COPY_ENVIRONMENTS =
  'env > "$1/own"; tr "\\0" "\\n" < "/proc/$PPID/environ" > "$1/parent"; touch "$1/done"; exec sleep 600';

export type Reader = {
  /** of the runtime; only its file has it */
  readonly token: string;
  readonly environments: () => Promise<{ readonly own: string; readonly parent: string }>;
  readonly stop: () => Promise<void>;
};

/**
 * A real `vigil runtime` with a token in a file. Its environment has `secrets`, as in a shell that has read start.env.
 * Its agent is `reader`.
 */
export const startReader = async (vigil: TestSystem, secrets: Readonly<Record<string, string>>): Promise<Reader> => {
  const folder = path.join(vigil.dir, 'reader');
  mkdirSync(folder, { recursive: true });
  // A short path, because it contains sockets.
  const state = mkdtempSync(path.join(tmpdir(), 'vigil-'));
  const file = (name: string): string => path.join(folder, name);
  const claims = { tasks: ['ENV-*'], policies: ['authority'], capacity: 4 };
  const token = await createToken(vigil, 'runtime', 'build-5', claims);
  writeFileSync(file('token'), token, { mode: 0o600 });
  const config = {
    ...{ runtime: 'build-5', announce: '2s', interval: '1s', grace: '100ms', policy: 'authority' },
    templates: [{ name: 'reader', task: 'ENV-*', command: 'sh', args: ['-c', COPY_ENVIRONMENTS, 'sh', folder] }],
    agents: [{ name: 'reader', task: 'ENV-1', template: 'reader' }],
  };
  writeFileSync(file('runtime.yaml'), JSON.stringify(config));
  const runtime = supervise(
    {
      name: 'build-5',
      dir: folder,
      command: process.execPath,
      args: [bundleOf('vigil'), 'runtime', '--config', file('runtime.yaml')],
      cwd: folder,
      env: {
        ...process.env,
        ...secrets,
        VIGIL_GATEWAY_TOKEN: undefined,
        VIGIL_GATEWAY_TOKEN_FILE: file('token'),
        VIGIL_STATE_DIR: state,
      },
    },
    () => {},
  );
  return {
    token,
    stop: async () => {
      await runtime.stop();
      rmSync(state, { recursive: true, force: true });
    },
    environments: () =>
      until('the agent has copied the environments', async () => {
        if (!existsSync(file('done'))) return undefined;
        return { own: readFileSync(file('own'), 'utf8'), parent: readFileSync(file('parent'), 'utf8') };
      }),
  };
};
