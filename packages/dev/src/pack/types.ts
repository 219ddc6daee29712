import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { root } from '../paths.ts';
import { fileOf } from './manifest.ts';
import { checkImports, staysDependency } from './modules.ts';
import type { Published } from './published.ts';
import type { Workspaces } from './workspaces.ts';

const OPTIONS = {
  noEmit: false,
  incremental: false,
  tsBuildInfoFile: null,
  declaration: true,
  emitDeclarationOnly: true,
  outDir: 'out',
  rootDir: root,
};

const TESTS = ['test', 'fixture', 'contract'].map((kind) => `${root}/packages/*/src/**/*.${kind}.ts`);

/**
 * Writes the declarations of these packages into a folder. All sources are named, because the compiler may
 * mistake a source that it reaches through node_modules for one of another package. @returns where the declarations are
 */
export const emitTypes = (packages: readonly string[], folder: string): string => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const include = packages.map((name) => path.join(root, name, 'src'));
  const config = { extends: path.join(root, 'tsconfig.json'), compilerOptions: OPTIONS, include, exclude: TESTS };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const { status, stdout } = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`tsc cannot write declarations:\n${stdout}`);
  return path.join(folder, 'out');
};

const declarationOf = (source: string): string => source.replace(/\.ts$/, '.d.ts');

/** The modules that a file of declarations names. The bundler's own list also has imports that it has removed. */
const importsOf = (code: string): readonly string[] =>
  [...code.matchAll(/(?:\bfrom |^import |\bimport\()["']([^"']+)["']/gm)].map(([, id = '']) => id);

/** Writes the declarations of a package's entries: one file an entry, which contains those of the parts built into it. */
export const buildTypes = async (
  one: Published,
  emitted: string,
  workspaces: Workspaces,
  dir: string,
): Promise<void> => {
  if (one.entries.length === 0) return;
  const isDependency = staysDependency(one.dependencies);
  const build = await rolldown({
    cwd: emitted,
    input: Object.fromEntries(
      one.entries.map((entry) => [fileOf(entry), path.join(emitted, declarationOf(entry.source))]),
    ),
    platform: 'node',
    external: (id) => !(id.startsWith('.') || path.isAbsolute(id) || id.startsWith('@vigil/')) || isDependency(id),
    // An import whose types are not used is removed.
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: 'workspaces',
        resolveId: (id) => {
          const source = isDependency(id) ? undefined : workspaces.sourceOf(id);
          return source === undefined ? null : path.join(emitted, declarationOf(source));
        },
      },
      dts({ dtsOnly: true, generator: 'oxc', tsconfig: false }),
    ],
  });
  const { output } = await build.write({ dir, format: 'esm', chunkFileNames: '[name]-[hash].d.ts' });
  await build.close();
  checkImports(
    output.map((file) => ({ fileName: file.fileName, imports: importsOf(file.type === 'chunk' ? file.code : '') })),
    one,
  );
};
