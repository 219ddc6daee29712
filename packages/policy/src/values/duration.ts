const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

/** Parses `10m`, `60s`, `1.5h` or `500ms` to milliseconds; null if the text is not a duration. */
export const parseDuration = (text: string): number | null => {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim());
  return found ? Math.round(Number(found[1]) * UNIT_MS[found[2] as Unit]) : null;
};

/** Formats a duration for a document: `10m`, `90s`, `500ms`. */
export const brief = (ms: number): string => {
  const units = Object.entries(UNIT_MS).toReversed();
  const [unit, length] = units.find(([, length]) => ms >= length && ms % length === 0) ?? ['ms', 1];
  return `${ms / length}${unit}`;
};

/** Formats a duration for people: `6 min 12 s`, `45 s`, `800 ms`, `2 h 5 min`. */
export const spell = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return s % 60 === 0 ? `${m} min` : `${m} min ${s % 60} s`;
  return m % 60 === 0 ? `${m / 60} h` : `${Math.floor(m / 60)} h ${m % 60} min`;
};
