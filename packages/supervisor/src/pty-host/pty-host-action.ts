import type { Deed } from './protocol.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** What somebody at a terminal sends is their own word. That they came and left is the holder's to say. */
export const isDeed = (sent: unknown): sent is Deed => {
  if (typeof sent !== 'object' || sent === null) return false;
  const deed: { readonly [K in 'does' | 'input' | 'size' | 'graceMs']?: unknown } = sent;
  if (deed.does === 'types') return typeof deed.input === 'string';
  if (deed.does === 'ends') return deed.graceMs === null || isCount(deed.graceMs);
  if (deed.does !== 'resizes' || typeof deed.size !== 'object' || deed.size === null) return false;
  const { columns, rows }: { readonly columns?: unknown; readonly rows?: unknown } = deed.size;
  return isCount(columns) && isCount(rows);
};
