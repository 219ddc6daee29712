const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over the texts and their boundaries: 32 bits, for comparison only, never for security. */
export const hash32 = (...texts: readonly string[]): number => {
  let hash = OFFSET;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
    hash = Math.imul(hash ^ 0x1f, PRIME);
  }
  return hash >>> 0;
};
