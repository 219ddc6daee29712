import { globSync } from 'node:fs';

const PLACES = ['package.json', '{packages,services}/*/package.json', 'test/package.json', 'packages/*/pyproject.toml'];

/** The files with the version of the repository, which all packages share. */
export const versionedFiles = (root: string): readonly string[] =>
  PLACES.flatMap((pattern) => globSync(pattern, { cwd: root })).sort();

/** The text of package.json or pyproject.toml with another version; its first `version` is the package's own. */
export const withVersion = (text: string, version: string): string =>
  text.replace(/^(\s*"version": |version = )"[^"]*"/m, `$1"${version}"`);
