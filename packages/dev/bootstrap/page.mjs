import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { root } from './bundles.mjs';

const source = path.join(root, 'packages/page/src');
const OURS = /\/(?:packages|services)\/[^/]+\/src\//;

/** The style sheets, in the order in which they apply. */
const STYLES = ['styles/tokens.css', 'styles/base.css', 'styles/shell.css', 'styles/parts.css', 'styles/views.css'];

/** The files of the page that are not modules. A change of one of them makes a build stale. */
export const PAGE_FILES = ['index.html', 'favicon.svg', ...STYLES].map((name) => `packages/page/src/${name}`);

const style = () => [
  readFileSync(path.join(root, 'packages/page/node_modules/uplot/dist/uPlot.min.css'), 'utf8'),
  ...STYLES.map((name) => readFileSync(path.join(source, name), 'utf8')),
];

/** Writes the page for browsers into a folder: index.html, and what it loads below assets/. */
export const buildPage = async (folder, plugins) => {
  const assets = path.join(folder, 'assets');
  mkdirSync(assets, { recursive: true });
  const build = await rolldown({
    cwd: root,
    input: { page: path.join(source, 'main.tsx') },
    platform: 'browser',
    plugins,
    transform: { target: 'es2022' },
    // The page uses single functions of packages that also read files. A module of Node that is left over is a mistake.
    external: [/^node:/],
    treeshake: {
      moduleSideEffects: [
        { test: OURS, sideEffects: false },
        { test: /^node:/, sideEffects: false },
      ],
    },
    checks: { eval: false },
  });
  const { output } = await build.write({ dir: assets, format: 'esm', minify: true, entryFileNames: '[name].js' });
  await build.close();
  const left = output.flatMap(({ imports }) => imports ?? []);
  if (left.length > 0) throw new Error(`the page imports ${left.join(', ')}, which no browser has`);
  writeFileSync(path.join(assets, 'page.css'), style().join('\n'));
  copyFileSync(path.join(source, 'favicon.svg'), path.join(assets, 'favicon.svg'));
  copyFileSync(path.join(source, 'index.html'), path.join(folder, 'index.html'));
};

// Usage: page.mjs FOLDER
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildPage(path.resolve(process.argv[2] ?? '.cache/page'), []);
