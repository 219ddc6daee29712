type Fields = Readonly<Record<string, unknown>>;

const LONGEST = 80;

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

const isTree = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/**
 * The first field in which two plain values differ, with both values; null if they are equal. Fields are compared in
 * the order of the first value.
 */
export const firstDifference = (recorded: unknown, now: unknown, field = ''): string | null => {
  if (isTree(recorded) && isTree(now) && Array.isArray(recorded) === Array.isArray(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const inner = Array.isArray(recorded) ? `${field}[${name}]` : `${field}${field === '' ? '' : '.'}${name}`;
      const difference = firstDifference(recorded[name], now[name], inner);
      if (difference !== null) return difference;
    }
    return null;
  }
  return Object.is(recorded, now) ? null : `${field}: ${shown(recorded)} is recorded, ${shown(now)} is decided now`;
};
