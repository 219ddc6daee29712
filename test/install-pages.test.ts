import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const pages = globSync('**/*.md', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || /(?:^|\/)(?:\.cache|\.vigil|dist)$/.test(name),
});

/** People type the commands of these pages in the clone or after an install, where `npx vigil` is Vigil. Anywhere else npx fetches an unrelated program. */
const IN_AN_INSTALL = ['README.md', 'CHANGELOG.md', 'docs/examples/README.md', 'packages/cli/README.md'];

/** Install commands with a name, which npm or pip would look up in a registry. A file, a folder or an address is allowed. */
const FETCHES_A_NAME =
  /\b(?:npm (?:install|i|add|exec)|pnpm (?:add|dlx)|yarn (?:add|dlx)|npx|bunx?|pip install|pipx (?:install|run)|uvx?)\s+(?:-\S+\s+)*["']?(?:@vigil\/|vigil-|vigil_)/;

const linesWith = (pattern: RegExp, from: readonly string[]) =>
  from.flatMap((page) =>
    readFileSync(path.join(root, page), 'utf8')
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${page}: ${line.trim()}`),
  );

test('no page has a command that installs a package of Vigil by name, because none is on a registry', () => {
  expect(pages).toContain('packages/sdk/README.md');
  expect(linesWith(FETCHES_A_NAME, pages)).toEqual([]);
});

test('a page outside the clone and outside an install has no `npx vigil`, because that name is another program at npm', () => {
  const outside = pages.filter((page) => !IN_AN_INSTALL.includes(page));
  expect(linesWith(/\bnpx (?:-\S+ )*vigil\b/, outside)).toEqual([]);
});

test('the pattern of such a command finds names, and no file or folder', () => {
  for (const command of [
    'npm install @vigil/sdk',
    'npm i -D @vigil/events',
    'npx @vigil/cli up',
    'pip install vigil-client',
  ])
    expect(command).toMatch(FETCHES_A_NAME);
  for (const command of ['npm install ../vigil/dist/vigil-sdk-0.1.0.tgz', 'pip install ./packages/python-client'])
    expect(command).not.toMatch(FETCHES_A_NAME);
});
