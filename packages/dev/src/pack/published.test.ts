import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../paths.ts';
import { packedManifest, readManifest } from './manifest.ts';
import { checkImports } from './modules.ts';
import { PUBLISHED, type Published } from './published.ts';
import { placeOf } from './resources.ts';

const published = PUBLISHED.map((one) => readManifest(one.folder));
const cases = PUBLISHED.map((one): [string, Published] => [readManifest(one.folder).name, one]);

const example: Published = {
  folder: 'packages/sdk',
  description: 'an example',
  entries: [
    { name: '.', source: 'packages/sdk/src/index.ts' },
    { name: './hashes', source: 'packages/sdk/src/calls/hashes.ts' },
  ],
  bin: null,
  node: '>=20.11',
  dependencies: ['@vigil/events', 'zod'],
  files: { schemas: 'schemas' },
  exportedFiles: ['schemas/*'],
};

describe.each(cases)('%s', (_, one) => {
  test('the sources, the files and the README of the package exist', () => {
    const sources = [...one.entries, ...(one.bin === null ? [] : [one.bin])].map(({ source }) => source);
    const files = [...sources, ...Object.keys(one.files), `${one.folder}/README.md`];
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  test('the package has the version of the repository', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    expect(readManifest(one.folder).version).toBe(version);
  });

  test('an entry has the name and the source that package.json gives it, unless only the packed package has it', () => {
    const { exports = {} } = readManifest(one.folder);
    for (const { name, source } of one.entries.filter((entry) => entry.source.startsWith(`${one.folder}/`)))
      expect(path.join(one.folder, exports[name] ?? '')).toBe(source);
  });
});

describe('package.json of a packed package', () => {
  const parts = [{ name: '@vigil/events', version: '9.9.9', dependencies: { zod: '4.6.7' } }];
  const manifest = packedManifest(example, parts, [{ name: '@vigil/events', version: '0.2.0' }], null);

  test('has types before code in each entry, because a compiler takes the first that it understands', () => {
    expect(Object.entries(manifest.exports as object).map(([name, to]) => [name, Object.keys(to)])).toMatchObject([
      ['.', ['types', 'default']],
      ['./hashes', ['types', 'default']],
      ['./schemas/*', expect.anything()],
      ['./package.json', expect.anything()],
    ]);
  });

  test('has the version of a dependency from the part that uses it, and that of a published package from that package', () => {
    expect(manifest.dependencies).toEqual({ '@vigil/events': '0.2.0', zod: '4.6.7' });
  });

  test('names the repository where it is published, because a provenance needs it', () => {
    expect(packedManifest(example, parts, published, 'owner/vigil')).toMatchObject({
      repository: 'github:owner/vigil',
    });
    expect(manifest).not.toHaveProperty('repository');
  });

  test('is refused if no part has the version of a dependency', () => {
    expect(() => packedManifest({ ...example, dependencies: ['left-pad'] }, parts, published, null)).toThrow(
      'left-pad',
    );
  });
});

describe('what built files import', () => {
  const importing = (...imports: readonly string[]) => checkImports([{ fileName: 'index.js', imports }], example);

  test('may be a file beside them, a module of Node, or a dependency with any of its modules', () => {
    expect(() => importing('./hashes.js', 'node:fs', 'fs', 'zod', 'zod/mini', '@vigil/events')).not.toThrow();
  });

  test('may not be a package that only this repository has, or one whose name begins with that of a dependency', () => {
    expect(() => importing('@vigil/stream')).toThrow('index.js of packages/sdk imports @vigil/stream');
    expect(() => importing('zod-extra')).toThrow('zod-extra');
  });
});

describe('the place of a file in a package', () => {
  test('is below the place of its folder', () => {
    expect(placeOf('schemas/evt/a.avsc', { schemas: 'contract' })).toBe('contract/evt/a.avsc');
    expect(placeOf('schemas', { schemas: 'contract' })).toBe('contract');
  });

  test('is null for a file that the package lacks, even if its path begins like a folder of the package', () => {
    expect(placeOf('schemas-of-others/a.avsc', { schemas: 'contract' })).toBeNull();
    expect(placeOf('docs/openapi.json', { schemas: 'contract' })).toBeNull();
  });
});
