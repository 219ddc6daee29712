import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from './paths.ts';
import { versionedFiles, withVersion } from './versions.ts';

test('the version of a package changes, and that of its dependencies does not', () => {
  const before = '{\n  "name": "a",\n  "version": "0.1.0",\n  "dependencies": { "b": "0.1.0" }\n}\n';
  expect(withVersion(before, '0.2.0')).toBe(before.replace('"version": "0.1.0"', '"version": "0.2.0"'));
  expect(withVersion('[project]\nname = "a"\nversion = "0.1.0"\n', '0.2.0')).toBe(
    '[project]\nname = "a"\nversion = "0.2.0"\n',
  );
});

test('every package has the version of the repository, also the client for Python', () => {
  const files = versionedFiles(root);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  expect(files).toContain('packages/python-client/pyproject.toml');
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    expect({ file, text: withVersion(text, version) }).toEqual({ file, text });
  }
});
