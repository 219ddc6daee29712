import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { interruption } from './interrupt.ts';
import { endWith } from './main-error.ts';
import { root } from './paths.ts';
import { Refusal } from './servers/refusal.ts';
import { startServers } from './servers/servers.ts';
import { closeRunFolder, openRunFolder } from './test-run/run-folder.ts';

const folder = path.join(root, 'test/bench');

const benchmarks = (): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.ts'))
        .map((file) => path.basename(file, '.ts'))
    : [];

const chosen = (wanted: string | undefined): readonly string[] => {
  const all = benchmarks();
  const names = wanted === undefined ? all : all.filter((name) => name === wanted);
  if (names.length > 0) return names;
  throw new Refusal(`there is no benchmark ${wanted ?? 'at all'} in test/bench: ${all.join(', ') || 'it is empty'}`);
};

const run = async (signal: AbortSignal): Promise<number> => {
  const names = chosen(process.argv[2]);
  const dir = await openRunFolder();
  await using open = new AsyncDisposableStack();
  open.defer(() => closeRunFolder(dir, false));
  const servers = await startServers({ purpose: 'test', dir, onProgress: (line) => console.error(`[bench] ${line}`) });
  open.defer(servers.stop);
  let failed = 0;
  for (const name of signal.aborted ? [] : names) {
    console.log(`== ${name}`);
    const env = { ...process.env, ...servers.env };
    const { status } = spawnSync(process.execPath, [path.join(folder, `${name}.ts`)], {
      cwd: root,
      env,
      stdio: 'inherit',
    });
    if (status !== 0) failed += 1;
  }
  return failed === 0 ? 0 : 1;
};

const { signal, code } = interruption();
await run(signal).then((ended) => {
  process.exitCode = code() ?? ended;
}, endWith);
