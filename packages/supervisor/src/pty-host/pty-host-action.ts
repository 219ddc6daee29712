import type { PtyHostAction } from './protocol.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** What somebody at a terminal sends is their own word. That they came and left is the holder's to say. */
export const isPtyHostAction = (sent: unknown): sent is PtyHostAction => {
  if (typeof sent !== 'object' || sent === null) return false;
  const action: { readonly [K in 'kind' | 'input' | 'size' | 'graceMs']?: unknown } = sent;
  if (action.kind === 'types') return typeof action.input === 'string';
  if (action.kind === 'ends') return action.graceMs === null || isCount(action.graceMs);
  if (action.kind !== 'resizes' || typeof action.size !== 'object' || action.size === null) return false;
  const { columns, rows }: { readonly columns?: unknown; readonly rows?: unknown } = action.size;
  return isCount(columns) && isCount(rows);
};
