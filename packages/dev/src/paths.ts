import path from 'node:path';

/** The clone. */
export const root = path.resolve(import.meta.dirname, '../../..');
/** The folder for data, logs and pid files of runs. Git ignores it; deleting it between runs loses only data. */
export const stateDir = path.join(root, '.vigil');
/** The folder of downloads. Ignored by git. */
export const cacheDir = path.join(root, '.cache');
/** A program of Vigil, built from the sources (bootstrap/build.mjs): `vigil`, a service, `demo-agent`. */
export const bundleOf = (program: string): string => path.join(cacheDir, 'bundles', `${program}.mjs`);
