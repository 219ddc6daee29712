import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unnoted } from './run-spec.ts';

test('a variable that the agent does not get is named once, and not at each run', () => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-noted-'));
  expect(unnoted(['AWS_CA_BUNDLE'], dir)).toEqual(['AWS_CA_BUNDLE']);
  expect(unnoted(['AWS_CA_BUNDLE', 'OPENAI_API_KEY'], dir)).toEqual(['OPENAI_API_KEY']);
  expect(unnoted(['AWS_CA_BUNDLE', 'OPENAI_API_KEY'], dir)).toEqual([]);
  rmSync(dir, { recursive: true });
  expect(unnoted(['AWS_CA_BUNDLE'], dir)).toEqual(['AWS_CA_BUNDLE']);
});
