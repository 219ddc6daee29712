import path from 'node:path';

/**
 * `vigil` as it is built before the tests: it is the program that users run, and starts several times faster than its
 * sources.
 */
export const vigilProgram = path.resolve(import.meta.dirname, '../../../.cache/bundles/vigil.mjs');
