const ESC = '\u001b';
const BELL = '\u0007';
const STRING_BEGINS = /[\]PX^_]/;

/** The index after the sequence that begins at `start` with ESC. An unfinished one reaches to the end. */
const afterSequence = (text: string, start: number): number => {
  const kind = text.charAt(start + 1);
  let at = start + 2;
  if (kind === '[') {
    while (at < text.length && !/[@-~]/.test(text.charAt(at))) at += 1;
    return at + 1;
  }
  if (!STRING_BEGINS.test(kind)) return /[ -/]/.test(kind) ? at + 1 : at;
  while (at < text.length && text.charAt(at) !== BELL && text.charAt(at) !== ESC) at += 1;
  return text.charAt(at) === ESC && text.charAt(at + 1) === '\\' ? at + 2 : text.charAt(at) === BELL ? at + 1 : at;
};

/**
 * A text without terminal control sequences. Node's stripVTControlCharacters takes time that grows with the square of the length
 * where a program prints the beginnings of sequences: 4 s for 64 KiB.
 */
export const withoutSequences = (text: string): string => {
  let plain = '';
  let from = 0;
  for (let at = text.indexOf(ESC); at >= 0; at = text.indexOf(ESC, from)) {
    plain += text.slice(from, at);
    from = afterSequence(text, at);
  }
  return plain + text.slice(from);
};
