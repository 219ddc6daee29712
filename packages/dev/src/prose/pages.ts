import { globSync } from 'node:fs';

/** Folders without pages of this repository. */
const isExcluded = (file: string): boolean => /(^|\/)(node_modules|\.[a-z]+)(\/|$)/.test(file);

/** Every page of the repository, relative to `root`. */
export const pagesOf = (root: string): readonly string[] =>
  globSync('**/*.md', { cwd: root, exclude: isExcluded }).sort();
