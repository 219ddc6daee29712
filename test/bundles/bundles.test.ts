import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const smoke = path.join(import.meta.dirname, 'smoke.mjs');

// CI runs the same file on Node 20, 22 and 24.
test('the bundles of the hook and of the SDK run on a plain Node', () => {
  const output = execFileSync(process.execPath, [smoke], { encoding: 'utf8', timeout: 100_000 });
  expect(output).toContain(`run on Node ${process.versions.node}`);
});
