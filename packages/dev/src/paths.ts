import path from 'node:path';

/** The clone. */
export const root = path.resolve(import.meta.dirname, '../../..');
/** What runs leave behind: data, logs, pid files. Ignored by git; deleting it between runs loses only data. */
export const stateDir = path.join(root, '.vigil');
/** The folder of downloads. Ignored by git. */
export const cacheDir = path.join(root, '.cache');
/** A program of Vigil's as it is built from the sources (bootstrap/build.mjs): `vigil`, a service, `demo-agent`. */
export const bundleOf = (program: string): string => path.join(cacheDir, 'bundles', `${program}.mjs`);
