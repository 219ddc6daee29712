import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const fixture = fileURLToPath(new URL('./short-of-files.fixture.ts', import.meta.url));

test.runIf(process.platform === 'linux')(
  'while no file can be opened, a process is not taken for dead; it is ended, and seen to end, when there are files again',
  async () => {
    const script = 'ulimit -n 64; exec "$0" "$1"';
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, process.execPath, fixture]);
    expect(JSON.parse(stdout)).toEqual({
      whileShort: 'ProcessesUnknown',
      ending: { confirmed: true, forced: false, by: 'environment' },
      afterwards: 'false',
      left: null,
    });
  },
);
