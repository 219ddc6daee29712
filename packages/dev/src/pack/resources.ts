import path from 'node:path';
import type { Plugin } from 'rolldown';
import { root } from '../paths.ts';

/** The place in a package for each file or folder of the repository that it contains. */
export type Places = Readonly<Record<string, string>>;

/** The expressions by which a source names a file beside itself. */
const BESIDE_SOURCE = /path\.(?:join|resolve)\(import\.meta\.dirname, '([^']+)'\)/g;
const URL_BESIDE_SOURCE = /new URL\('([^']+)', import\.meta\.url\)/g;

/** What the built code contains for a file that the package does not have. */
const ABSENT = 'vigil-absent:';

const isSource = (file: string): boolean => file.endsWith('.ts');

/** The place in the package of a file of the repository; null if the package does not contain it. */
export const placeOf = (file: string, places: Places): string | null => {
  const found = Object.entries(places).find(([from]) => file === from || file.startsWith(`${from}/`));
  return found === undefined ? null : found[1] + file.slice(found[0].length);
};

/** The name of the built program of a source: `pty-host-main.js` for .../pty-host/main.ts. */
const programName = (file: string): string => {
  const folder = path.basename(path.dirname(file));
  return `${folder}-${path.basename(file, '.ts')}.js`;
};

/**
 * A built module finds the files that its source finds beside itself: those of the package, and programs that it starts,
 * which are built too. The modules are in `dist`, whose parent is the package.
 */
export const resources = (places: Places): Plugin => ({
  name: 'resources',
  transform: {
    filter: { id: /\/(?:packages|services)\/[^/]+\/src\//, code: 'import.meta.' },
    handler(code, id) {
      const inPackage = (relative: string): string => {
        const file = path.relative(root, path.resolve(path.dirname(id), relative));
        const place = placeOf(file, places);
        return place === null ? `${ABSENT}${file}` : `../${place}`;
      };
      const program = (relative: string): string => {
        const file = path.resolve(path.dirname(id), relative);
        this.emitFile({ type: 'chunk', id: file, fileName: programName(file) });
        return `./${programName(file)}`;
      };
      const built = code
        .replaceAll(BESIDE_SOURCE, (_, relative: string) => `path.join(import.meta.dirname, '${inPackage(relative)}')`)
        .replaceAll(URL_BESIDE_SOURCE, (_, relative: string) => {
          const target = isSource(relative) ? program(relative) : inPackage(relative);
          return `new URL('${target}', import.meta.url)`;
        });
      return { code: built, map: null };
    },
  },
  generateBundle(_, bundle) {
    const absent = new RegExp(`${ABSENT}([^']+)`, 'g');
    for (const output of Object.values(bundle)) {
      const code = output.type === 'chunk' ? output.code : '';
      const [, file] = absent.exec(code) ?? [];
      if (file !== undefined) throw new Error(`${output.fileName} reads ${file}: add it to \`files\` in published.ts`);
    }
  },
});
