import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { type AnySignal, signal } from './signal.ts';

const figure = (n: number): string => String(Math.round(n * 100) / 100);

/** A limit is exceeded, and the agent is alive. Withdrawn when the same limit is reported as kept. */
export const resourceLimit: AnySignal = signal(z.strictObject({}), {
  axis: 'fact',
  awaits: [],
  by: 'limits',
  firesFrom: ({ limits }) => limits.reduce((first, { at }) => Math.min(first, at), NEVER),
  evidence: ({ limits }) => {
    const [worst] = limits.toSorted((a, b) => b.used / b.max - a.used / a.max);
    if (!worst) return { value: null, limit: null, words: 'no exceeded limit reported', hard: false };
    const words = limits.map(({ name, used, max }) => `${name} ${figure(used)} of ${figure(max)}`).join(', ');
    return { value: worst.used, limit: worst.max, words: `limit exceeded: ${words}`, hard: true };
  },
  finding: ({ limits }) => `You have exceeded a limit (${limits.map(({ name }) => name).join(', ')}).`,
  advice: 'Free what you do not need, work in smaller steps, or ask for a handoff.',
});
