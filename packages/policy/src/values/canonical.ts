import { createHash } from 'node:crypto';

/** JSON with sorted keys and no white space: two documents of the same content have the same text. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`;
};

/** The first 16 hexadecimal digits of SHA-256 over the text. */
export const contentHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
