import { vi } from 'vitest';

/** A wait in a test ends with its condition. On a busy machine vitest's default of one second is often too short. */
const PATIENCE_MS = 60_000;

const waitFor = vi.waitFor;
vi.waitFor = (condition, options = PATIENCE_MS) => waitFor(condition, options);
