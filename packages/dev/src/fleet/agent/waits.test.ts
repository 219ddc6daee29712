import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundleOf } from '../../paths.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-demo-waits-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('the agent that asks finishes and ends once it is answered, also while its input stays open', async () => {
  const child = spawn(process.execPath, [bundleOf('demo-agent'), 'waits', dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data) => {
    out += data;
    if (String(data).includes('[y/N]')) child.stdin.write('y\n');
  });
  const [code] = await once(child, 'close');
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/\[y\/N\] answered: y\npart 2 of 2\nall parts are done\n$/),
  });
});
