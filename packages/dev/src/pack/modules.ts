import { isBuiltin } from 'node:module';
import path from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { root } from '../paths.ts';
import { fileOf } from './manifest.ts';
import type { Published } from './published.ts';
import { resources } from './resources.ts';

/** Modules with effects when they are loaded: the programs. Every other module of Vigil only exports. */
const PROGRAM = /\/packages\/[^/]+\/src\/(?:.*\/)?(?:main|[^/]+-worker)\.ts$/;
const OURS = /\/packages\/[^/]+\/src\//;

/** Whether an import is that of a package that stays a dependency, or of a module of it. */
export const staysDependency =
  (dependencies: readonly string[]) =>
  (id: string): boolean =>
    dependencies.some((name) => id === name || id.startsWith(`${name}/`));

/** A built file, and what it imports. */
export type BuiltFile = { readonly fileName: string; readonly imports: readonly string[] };

/** @throws where built code imports something that an install does not have */
export const checkImports = (files: readonly BuiltFile[], { folder, dependencies }: Published): void => {
  const isDependency = staysDependency(dependencies);
  for (const { fileName, imports } of files)
    for (const id of imports)
      if (!(id.startsWith('./') || isBuiltin(id) || isDependency(id)))
        throw new Error(`${fileName} of ${folder} imports ${id}, which its package.json does not name`);
};

/** The target of rolldown for `>=20.11`. */
const targetOf = (node: string): string => `node${/\d+(?:\.\d+)?/.exec(node)?.[0]}`;

/** Writes the modules of a package into a folder. @returns the ids of the modules that they consist of */
export const buildModules = async (
  one: Published,
  dir: string,
  plugins: readonly Plugin[],
): Promise<readonly string[]> => {
  const entries = one.bin === null ? one.entries : [...one.entries, one.bin];
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [fileOf(entry), path.join(root, entry.source)])),
    platform: 'node',
    external: staysDependency(one.dependencies),
    plugins: [...plugins, resources(one.files)],
    // A bundler cannot follow how its CommonJS build loads its parts.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    transform: { target: targetOf(one.node) },
    treeshake: {
      moduleSideEffects: [
        { test: PROGRAM, sideEffects: true },
        { test: OURS, sideEffects: false },
      ],
    },
    checks: { eval: false },
  });
  const { output } = await build.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const isBuilt = (id: string): boolean => chunks.some(({ fileName }) => fileName === id);
  const importsOf = (chunk: OutputChunk): readonly string[] =>
    [...chunk.imports, ...chunk.dynamicImports].filter((id) => !isBuilt(id));
  checkImports(
    chunks.map((chunk) => ({ fileName: chunk.fileName, imports: importsOf(chunk) })),
    one,
  );
  return chunks.flatMap(({ moduleIds }) => moduleIds);
};
