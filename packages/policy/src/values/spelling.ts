/** The known word that was probably meant; null if none is close. */
export const nearest = (word: string, known: readonly string[]): string | null => {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const allowed = word.length < 3 ? 0 : Math.max(1, Math.floor(word.length / 3));
  let best: string | null = null;
  let least = allowed + 1;
  for (const candidate of known) {
    const far = plain(candidate) === plain(word) ? 0 : distance(word.toLowerCase(), candidate.toLowerCase());
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
};

/** The remedy for an unknown word: the nearest known one, else all of them. */
export const insteadOf = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  if (near !== null) return `did you mean ${near}?`;
  return known.length === 0 ? 'remove it' : `write one of ${known.join(', ')}`;
};

/** The edit distance: letters to add, remove, change, or swap with their neighbour. */
const distance = (a: string, b: string): number => {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const changed = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      next.push(swapped ? Math.min(changed, (before[j - 2] ?? 0) + 1) : changed);
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
};
