import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { boundaryProblems } from './boundaries.ts';

let root: string;

const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};

const member = (
  dir: string,
  name: string,
  dependencies: readonly string[],
  exports = { '.': './src/index.ts' },
): void =>
  write(
    `${dir}/package.json`,
    JSON.stringify({
      name,
      exports,
      dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, '1'])),
    }),
  );

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'vigil-boundaries-'));
  write('package.json', JSON.stringify({ name: 'root', devDependencies: { vitest: '1' } }));
  member('packages/stream', '@vigil/stream', ['kafkajs']);
  write('packages/stream/src/index.ts', `import { Kafka } from 'kafkajs';\nexport const connect = Kafka;\n`);
  member('packages/health', '@vigil/health', ['pg']);
  write('packages/health/src/index.ts', `import type { Pool } from 'pg';\nexport type { Pool };\n`);
  member('services/a', '@vigil/a', ['@vigil/stream', 'kafkajs', 'pg'], { '.': './src/main.ts' });
  write('services/a/src/main.ts', `import '@vigil/stream';\nimport './processor.ts';\nconsole.log(Date.now());\n`);
  write(
    'services/a/src/processor.ts',
    `import './decide.ts';\nimport { createHash } from 'node:crypto';\nexport { createHash };\n`,
  );
  write('services/a/src/decide.ts', '// Date.now() is an argument\nexport const decide = 1;\n');
  member('services/b', '@vigil/b', ['@vigil/a'], { '.': './src/main.ts' });
});
afterEach(() => rmSync(root, { recursive: true }));

it('a workspace that keeps the boundaries has no problem', () => expect(boundaryProblems(root)).toEqual([]));

it('a test may use what the root has, another file may not', () => {
  write('services/a/src/x.test.ts', `import { it } from 'vitest';\nit('x');\n`);
  expect(boundaryProblems(root)).toEqual([]);
  write('services/a/src/x.ts', `import { it } from 'vitest';\nit('x');\n`);
  expect(boundaryProblems(root)).toEqual([
    'services/a/src/x.ts:1 imports "vitest": vitest is not a dependency of @vigil/a; add it to its package.json',
  ]);
});

const forbidden: readonly (readonly [rule: string, file: string, text: string, problem: string])[] = [
  [
    'a service may not import a service',
    'services/b/src/main.ts',
    `import '@vigil/a';`,
    'a service may not import another service',
  ],
  [
    'a package may not import a service',
    'packages/stream/src/x.ts',
    `import '@vigil/a';`,
    'a package may not import a service',
  ],
  [
    'a relative path may not leave the package',
    'services/b/src/x.ts',
    `import '../../a/src/main.ts';`,
    'leaves its own package',
  ],
  [
    'only the stream may import the Kafka client',
    'services/a/src/x.ts',
    `import 'kafkajs';`,
    'only @vigil/stream may import the Kafka client',
  ],
  [
    'also not for a type',
    'services/a/src/x.ts',
    `import type { Kafka } from 'kafkajs';`,
    'only @vigil/stream may import the Kafka client',
  ],
  [
    'also not in a test',
    'services/a/src/x.test.ts',
    `import 'kafkajs';`,
    'only @vigil/stream may import the Kafka client',
  ],
  [
    'an undeclared package may not be imported',
    'packages/health/src/x.ts',
    `import '@vigil/stream';`,
    '@vigil/stream is not a dependency',
  ],
  [
    'only what is exported may be imported',
    'services/a/src/x.ts',
    `import '@vigil/stream/src/x.ts';`,
    'not among the exports of @vigil/stream',
  ],
  [
    'a dynamic import counts',
    'services/b/src/x.ts',
    `await import('@vigil/a');`,
    'a service may not import another service',
  ],
  [
    'a re-export counts',
    'services/b/src/x.ts',
    `export * from '@vigil/a';`,
    'a service may not import another service',
  ],
  [
    'files may not import each other in a circle',
    'services/a/src/decide.ts',
    `import './processor.ts';`,
    'a cycle of imports: ',
  ],
  [
    'a processor reaches no file system',
    'services/a/src/decide.ts',
    `import 'node:fs';`,
    'services/a/src/decide.ts:1 imports "node:fs"',
  ],
  ['a processor reaches no database', 'services/a/src/processor.ts', `import 'pg';`, 'processor.ts:1 imports "pg"'],
  [
    'a processor draws no ids',
    'services/a/src/decide.ts',
    `import { randomUUID } from 'node:crypto';`,
    'imports "node:crypto"',
  ],
  [
    'a decision asks no clock',
    'services/a/src/decide.ts',
    'export const now = Date.now();',
    'decide.ts:1 uses Date.now',
  ],
  [
    'a decision asks no chance',
    'services/a/src/decide.ts',
    'export const x = Math.random();',
    'decide.ts:1 uses Math.random',
  ],
  [
    'health is pure altogether',
    'packages/health/src/index.ts',
    `import 'pg';`,
    'packages/health/src/index.ts:1 imports "pg"',
  ],
];

for (const [rule, file, text, problem] of forbidden)
  it(rule, () => {
    write(file, text);
    expect(boundaryProblems(root)).toEqual([expect.stringContaining(problem)]);
  });

it('three files may not import each other in a cycle, not even for types', () => {
  write('services/a/src/x.ts', `import type { Y } from './y.ts';\nexport type X = Y;\n`);
  write('services/a/src/y.ts', `import type { Z } from './z.ts';\nexport type Y = Z;\n`);
  write('services/a/src/z.ts', `import type { X } from './x.ts';\nexport type Z = X;\n`);
  expect(boundaryProblems(root)).toEqual([
    expect.stringMatching(/^a cycle of type imports over more than two files: .*x\.ts, .*y\.ts, .*z\.ts;/),
  ]);
});

it('two files may import each other’s types', () => {
  write('services/a/src/x.ts', `import type { Y } from './y.ts';\nexport type X = Y;\n`);
  write('services/a/src/y.ts', `import type { X } from './x.ts';\nexport type Y = X;\n`);
  expect(boundaryProblems(root)).toEqual([]);
});

it('two cycles of two files that share a file are a cycle of three', () => {
  write('services/a/src/x.ts', `import type { Y } from './y.ts';\nexport type X = Y;\n`);
  write(
    'services/a/src/y.ts',
    `import type { X } from './x.ts';\nimport type { Z } from './z.ts';\nexport type Y = X | Z;\n`,
  );
  write('services/a/src/z.ts', `import type { Y } from './y.ts';\nexport type Z = Y;\n`);
  expect(boundaryProblems(root)).toEqual([expect.stringContaining('over more than two files')]);
});
