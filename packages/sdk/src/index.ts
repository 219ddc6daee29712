export { type Hashes, hashes, NORMALISER, normalise } from './hashes.ts';
