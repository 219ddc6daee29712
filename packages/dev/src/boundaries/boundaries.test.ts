import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { root as clone } from '../paths.ts';
import { purityProblems } from './purity.ts';

let root: string;

const write = (file: string, text: string): void => {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
};

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'vigil-boundaries-'));
  write('packages/health/src/index.ts', `import type { Pool } from 'pg';\nexport type { Pool };\n`);
  write('services/a/src/main.ts', `import '@vigil/stream';\nimport './processor.ts';\nconsole.log(Date.now());\n`);
  write(
    'services/a/src/processor.ts',
    `import './decide.ts';\nimport { createHash } from 'node:crypto';\nexport { createHash };\n`,
  );
  write('services/a/src/decide.ts', '// Date.now() is an argument\nexport const decide = 1;\n');
});
afterEach(() => rmSync(root, { recursive: true }));

it('a workspace that keeps the boundaries has no problem', () => expect(purityProblems(root)).toEqual([]));

const impure: readonly (readonly [rule: string, file: string, text: string, problem: string])[] = [
  [
    'a processor reaches no file system',
    'services/a/src/decide.ts',
    `import 'node:fs';`,
    'services/a/src/decide.ts:1 imports "node:fs"',
  ],
  ['a processor reaches no database', 'services/a/src/processor.ts', `import 'pg';`, 'processor.ts:1 imports "pg"'],
  [
    'nor does one of several processors',
    'services/b/src/processors.ts',
    `import 'pg';`,
    'processors.ts:1 imports "pg"',
  ],
  ['a dynamic import counts', 'services/a/src/decide.ts', `await import('pg');`, 'decide.ts:1 imports "pg"'],
  ['a re-export counts', 'services/a/src/decide.ts', `export * from 'pg';`, 'decide.ts:1 imports "pg"'],
  [
    'a processor creates no random ids',
    'services/a/src/decide.ts',
    `import { randomUUID } from 'node:crypto';`,
    'imports "node:crypto"',
  ],
  [
    'a decision reads no clock',
    'services/a/src/decide.ts',
    'export const now = Date.now();',
    'decide.ts:1 uses Date.now',
  ],
  [
    'a decision uses no random numbers',
    'services/a/src/decide.ts',
    'export const x = Math.random();',
    'decide.ts:1 uses Math.random',
  ],
  [
    'all of health is pure',
    'packages/health/src/index.ts',
    `import 'pg';`,
    'packages/health/src/index.ts:1 imports "pg"',
  ],
];

for (const [rule, file, text, problem] of impure)
  it(rule, () => {
    write(file, text);
    expect(purityProblems(root)).toEqual([expect.stringContaining(problem)]);
  });

/** The files that break a rule of biome.json, with the rest of the workspace around them. */
const lintedBy = (rule: string, files: Readonly<Record<string, string>>): readonly string[] => {
  for (const [file, text] of Object.entries(files)) write(file, text);
  write('biome.json', readFileSync(path.join(clone, 'biome.json'), 'utf8'));
  const functions = 'packages/dev/src/lint/arrow-functions.grit';
  write(functions, readFileSync(path.join(clone, functions), 'utf8'));
  const biome = path.join(clone, 'node_modules/.bin/biome');
  const args = ['lint', '--vcs-enabled=false', '--reporter=github', '.'];
  const { stdout } = spawnSync(biome, args, { cwd: root, encoding: 'utf8' });
  const found = stdout.split('\n').filter((line) => line.startsWith('::error') && line.includes(`/${rule},`));
  return found.map((line) => path.relative(root, /file=([^,]+),/.exec(line)?.[1] ?? '')).sort();
};

const KAFKA = `import { Kafka } from 'kafkajs';\nexport const connect = Kafka;\n`;

test('only the stream may import the Kafka client, also in tests and as types', () => {
  const files = {
    'packages/stream/src/x.ts': KAFKA,
    'services/a/src/x.ts': KAFKA,
    'services/a/src/x.test.ts': KAFKA,
    'services/a/src/type.ts': `import type { Kafka } from 'kafkajs';\nexport type K = Kafka;\n`,
  };
  const found = ['services/a/src/type.ts', 'services/a/src/x.test.ts', 'services/a/src/x.ts'];
  expect(lintedBy('noRestrictedImports', files)).toEqual(found);
});

test('a relative path may not leave the package', () => {
  const files = {
    'services/b/src/x.ts': `import '../../a/src/main.ts';\n`,
    'packages/stream/src/deep/x.ts': `export * from '../../../health/src/index.ts';\n`,
    'packages/stream/src/deep/y.ts': `import '../x.ts';\n`,
    'packages/stream/src/x.ts': '',
  };
  const found = ['packages/stream/src/deep/x.ts', 'services/b/src/x.ts'];
  expect(lintedBy('noRestrictedImports', files)).toEqual(found);
});

test('files may not import each other in a cycle', () => {
  const files = { 'services/a/src/decide.ts': `import './processor.ts';\nexport const decide = 1;\n` };
  const found = ['services/a/src/decide.ts', 'services/a/src/processor.ts'];
  expect(lintedBy('noImportCycles', files)).toEqual(found);
});

test('files may not import each other in a cycle, not even for types', () => {
  const files = {
    'services/a/src/x.ts': `import type { Y } from './y.ts';\nexport type X = Y;\n`,
    'services/a/src/y.ts': `import type { Z } from './z.ts';\nexport type Y = Z;\n`,
    'services/a/src/z.ts': `import type { X } from './x.ts';\nexport type Z = X;\n`,
  };
  expect(lintedBy('noImportCycles', files)).toEqual(Object.keys(files));
});

test('an undeclared package may not be imported; a test may import those of the root', () => {
  const vitest = `import { it } from 'vitest';\nit('x');\n`;
  const files = {
    'package.json': '{ "name": "root", "devDependencies": { "vitest": "1" } }',
    'packages/health/package.json': '{ "name": "@vigil/health", "dependencies": { "pg": "1" } }',
    'packages/health/src/x.ts': vitest,
    'packages/health/src/x.test.ts': vitest,
    'packages/health/src/y.ts': `import '@vigil/stream';\n`,
  };
  const found = ['packages/health/src/x.ts', 'packages/health/src/y.ts', 'services/a/src/main.ts'];
  expect(lintedBy('noUndeclaredDependencies', files)).toEqual(found);
});

/** Each service can run in the one process of `packages/embedded`, and `npm run generate` reads the routes of the dashboard. */
const EXPORTS: Readonly<Record<string, object>> = {
  'services/dashboard/package.json': { './openapi': './src/openapi.ts' },
};

test.each(globSync('services/*/package.json', { cwd: clone }))('%s exports its service only', (file) => {
  const manifest = JSON.parse(readFileSync(path.join(clone, file), 'utf8'));
  expect(manifest.exports).toEqual({ '.': './src/service.ts', ...EXPORTS[file] });
  expect(manifest).not.toHaveProperty('main');
});

test('services communicate only through topics: only the process that runs them all imports them', () => {
  const manifests = globSync(['services/*/package.json', 'packages/*/package.json'], { cwd: clone }).map((file) => ({
    file,
    manifest: JSON.parse(readFileSync(path.join(clone, file), 'utf8')),
  }));
  const services = new Set(
    manifests.filter(({ file }) => file.startsWith('services/')).map(({ manifest }) => manifest.name),
  );
  const importers = manifests.flatMap(({ file, manifest }) => {
    const used = Object.keys(manifest.dependencies ?? {}).filter((name) => services.has(name));
    return used.map((name) => `${file} uses ${name}`);
  });
  const others = importers.filter((each) => !each.startsWith('packages/embedded/'));
  expect(importers.length).toBeGreaterThan(0);
  expect(others).toEqual(['packages/dev/package.json uses @vigil/dashboard']);
});
