import { z } from 'zod';

const UNITS = { B: 1, KiB: 1 << 10, MiB: 1 << 20, GiB: 1 << 30, K: 1 << 10, M: 1 << 20, G: 1 << 30 } as const;

/** `512MiB`, `2G`, `100000B` as bytes; null where the text is not a size. */
export const parseSize = (text: string): number | null => {
  const found = /^(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB|K|M|G)$/.exec(text.trim());
  return found ? Math.round(Number(found[1]) * UNITS[found[2] as keyof typeof UNITS]) : null;
};

/** Bytes in a configuration: always with their unit. */
export const size: z.ZodType<number> = z.unknown().transform((value, context) => {
  const bytes = typeof value === 'string' ? parseSize(value) : null;
  if (bytes !== null) return bytes;
  context.addIssue({
    code: 'custom',
    message: `${JSON.stringify(value)} is not a size: write one like 512MiB or 2GiB`,
  });
  return z.NEVER;
});
