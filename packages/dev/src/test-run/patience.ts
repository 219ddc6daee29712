import { vi } from 'vitest';

/** A wait in a test ends with its condition. On a busy machine one second, which is vitest's default, is often too short. */
const PATIENCE_MS = 60_000;

const waitFor = vi.waitFor;
vi.waitFor = (condition, options = PATIENCE_MS) => waitFor(condition, options);
