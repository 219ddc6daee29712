import { isUtf8 } from 'node:buffer';

/**
 * Filters what an agent prints, for the terminal of a person. Text, colours, cursor movement, modes and titles pass.
 * Clipboard access (OSC 52), links, other OSC, DCS, APC, PM and SOS strings, and printing are removed. So is every
 * sequence that makes a terminal answer, because the answer would arrive as typed keys. A sequence may be split over
 * chunks. Text is UTF-8; bytes that are not are removed, because terminals differ in how they read them.
 * Source: ECMA-48, and the control sequences that xterm documents.
 */
export type TerminalFilter = (chunk: Buffer) => Buffer;

const ESC = 0x1b;
const BEL = 0x07;
const BACKSLASH = 0x5c;
const DEL = 0x7f;
/** CAN and SUB end a sequence. */
const CANCELS: ReadonlySet<number> = new Set([0x18, 0x1a]);
/** BEL, BS, HT, LF, VT, FF, CR, SO, SI. ENQ, which makes a terminal answer, is not among them. */
const CONTROLS: ReadonlySet<number> = new Set([7, 8, 9, 10, 11, 12, 13, 14, 15]);
/** From here on, a byte begins a character of UTF-8. Those from 0x80 on continue one. */
const FIRST_LEAD = 0xc0;

/** The longest CSI sequence and the longest title that pass, bytes. */
const LONGEST_SEQUENCE = 256;
const LONGEST_TITLE = 1024;
/** A string without an end is removed up to here, bytes. What follows is text. */
const LONGEST_STRING = 64 * 1024;

/** What may follow ESC directly: save and restore the cursor, move by a line, a tab stop, keypad modes, reset, shifts. */
const ESCAPES = /^[78DEHM=>cno|}~]$/;
/** Selects a character set. */
const CHARSET = /^[()*+\-./][0-9A-Za-z<>=]$/;
/**
 * Parameters, intermediates and end of the CSI sequences that pass: none makes a terminal answer. Mode 2048 is
 * neither set nor restored, because the terminal reports its size at once. Nor are modes of five digits, which a parser
 * of 16 bits may read as 2048.
 */
const CSI =
  /^(?:[\d;:]*[@A-HJ-MPSTXZ`abdefghlrsIm]|\?[\d;]*[lJKs]|\?(?!(?:\d*;)*2048[;hr])(?:\d{0,4};)*\d{0,4}[hr]|>[\d;:]*[mu]|[<=]?[\d;]*u|\d* q|!p|2[23](?:;\d+)*t)$/;
/** Titles of window and icon, which no passing sequence can read back. */
const TITLE = /^[012];[^\p{Cc}\p{Cf}]*$/u;

/** `string`: between OSC, DCS, APC, PM or SOS and its end */
type Mode = 'text' | 'escape' | 'csi' | 'string';

const isIntermediate = (byte: number): boolean => byte >= 0x20 && byte <= 0x2f;
const isContinuation = (byte: number): boolean => byte >= 0x80 && byte < FIRST_LEAD;
const textOf = (bytes: readonly number[]): string => Buffer.from(bytes).toString();

/** How many bytes the UTF-8 character has that begins with this one. */
const characterLength = (lead: number): number => (lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
/** Not U+0080 to U+009F, which a terminal may carry out as controls. */
const isCharacter = (bytes: readonly number[]): boolean => isUtf8(Buffer.from(bytes)) && !/\p{Cc}/u.test(textOf(bytes));

export const createTerminalFilter = (): TerminalFilter => {
  let mode: Mode = 'text';
  /** the bytes of the present character, or of the present sequence after its beginning, as far as it may still pass */
  let held: number[] = [];
  let isTitle = false;
  let stringLength = 0;
  let isEscaped = false;
  let out: number[] = [];

  const enter = (next: Mode): void => {
    mode = next;
    held = [];
  };

  const startString = (mayBeTitle: boolean): void => {
    enter('string');
    isTitle = mayBeTitle;
    stringLength = 0;
    isEscaped = false;
  };

  const inText = (byte: number): void => {
    const [lead] = held;
    if (lead !== undefined && isContinuation(byte)) {
      held.push(byte);
      if (held.length < characterLength(lead)) return;
      if (isCharacter(held)) out.push(...held);
      held = [];
      return;
    }
    // Only whole characters pass, so that a removed byte never joins what was before it with what is after it.
    held = [];
    if (byte === ESC) enter('escape');
    else if (byte >= FIRST_LEAD) held = [byte];
    else if (byte < 0x20 ? CONTROLS.has(byte) : byte < DEL) out.push(byte);
  };

  const inEscape = (byte: number): void => {
    const [first] = held;
    if (isIntermediate(byte)) {
      held = [first ?? byte];
      return;
    }
    const last = String.fromCharCode(byte);
    if (first !== undefined) {
      if (CHARSET.test(`${String.fromCharCode(first)}${last}`)) out.push(ESC, first, byte);
      enter('text');
    } else if (last === '[') enter('csi');
    else if (last === ']') startString(true);
    else if ('PX^_'.includes(last)) startString(false);
    else {
      if (ESCAPES.test(last)) out.push(ESC, byte);
      enter('text');
    }
  };

  const inCsi = (byte: number): void => {
    // Terminals carry out controls within a sequence.
    if (byte < 0x20) {
      if (CONTROLS.has(byte)) out.push(byte);
      return;
    }
    if (held.length <= LONGEST_SEQUENCE) held.push(byte);
    if (byte < 0x40) return;
    if (held.length <= LONGEST_SEQUENCE && CSI.test(textOf(held))) out.push(ESC, 0x5b, ...held);
    enter('text');
  };

  const endString = (): void => {
    const isShort = held.length <= LONGEST_TITLE;
    if (isTitle && isShort && isUtf8(Buffer.from(held)) && TITLE.test(textOf(held))) out.push(ESC, 0x5d, ...held, BEL);
    enter('text');
  };

  const inString = (byte: number): void => {
    if (isEscaped && byte === BACKSLASH) endString();
    else if (isEscaped) {
      // ESC ends the string without its end; another sequence begins.
      enter('escape');
      step(byte);
    } else if (byte === BEL && isTitle) endString();
    else if (byte === ESC) isEscaped = true;
    else if (stringLength >= LONGEST_STRING) enter('text');
    else {
      stringLength += 1;
      if (isTitle && held.length <= LONGEST_TITLE) held.push(byte);
    }
  };

  const step = (byte: number): void => {
    if (mode !== 'text' && CANCELS.has(byte)) enter('text');
    else if (byte === ESC && (mode === 'escape' || mode === 'csi')) enter('escape');
    else if (mode === 'text') inText(byte);
    else if (mode === 'escape') inEscape(byte);
    else if (mode === 'csi') inCsi(byte);
    else inString(byte);
  };

  return (chunk) => {
    out = [];
    for (const byte of chunk) step(byte);
    return Buffer.from(out);
  };
};

/**
 * Undoes what an agent can set in a terminal: the other screen, margins, colours and their palette, character sets, the
 * keyboard's modes, mouse, focus, paste, cursor.
 */
export const TERMINAL_RESET: string = [
  // Ends a sequence that --raw has left unfinished.
  '\x18',
  '\x1b[?1049l',
  '\x1b[!p',
  ...[1, 5, 9, 69, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2031, 2048].map(
    (one) => `\x1b[?${one}l`,
  ),
  '\x1b[?7h\x1b[?25h',
  '\x1b[>4m\x1b[<99u',
  '\x1b(B\x0f\x1b[0m\x1b[0 q',
  '\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\',
  '\r\n',
].join('');
