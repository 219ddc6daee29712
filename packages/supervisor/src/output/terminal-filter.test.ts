import { isUtf8 } from 'node:buffer';
import xterm from '@xterm/headless';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTerminalFilter, TERMINAL_RESET } from './terminal-filter.ts';

const filteredBytes = (...chunks: readonly Buffer[]): Buffer => {
  const filter = createTerminalFilter();
  return Buffer.concat(chunks.map((chunk) => filter(chunk)));
};
const filtered = (...chunks: readonly (string | Buffer)[]): string =>
  filteredBytes(...chunks.map((chunk) => Buffer.from(chunk as string))).toString();
/** Each character is one byte. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

test.each([
  ['text of any language', 'plain, é, 漢字, 🙂\r\n\ttab\b'],
  ['colours', '\x1b[0;1;38;5;12mblue\x1b[38:2::1:2:3mtrue\x1b[m'],
  ['cursor movement, and what is erased or inserted', '\x1b[2;3H\x1b[A\x1b[2J\x1b[K\x1b[?2J\x1b[3@\x1b[5G\x1b[2d'],
  ['margins, and modes', '\x1b[1;20r\x1b[?25l\x1b[?1049h\x1b[?2004h\x1b[4h\x1b[20l\x1b[!p\x1b[2 q'],
  ['saved cursors, character sets, and shifts', '\x1b7\x1b8\x1b[s\x1b[u\x1b(0\x1b)B\x0e\x0f\x1b=\x1b>'],
  ['modes of the keyboard', '\x1b[>1u\x1b[<u\x1b[>4;2m'],
])('%s pass unchanged', (_, text) => {
  expect(filtered(text)).toBe(text);
});

test('titles pass, and end as xterm ends them', () => {
  expect(filtered('\x1b]0;build 7\x07\x1b]2;two\x1b\\')).toBe('\x1b]0;build 7\x07\x1b]2;two\x07');
});

test.each([
  ['the clipboard', '\x1b]52;c;cm0gLXJmIC8=\x07'],
  ['the clipboard, ended by ST', '\x1b]52;c;?\x1b\\'],
  ['links', '\x1b]8;;https://example.test\x1b\\'],
  ['colours of the palette, set or asked', '\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;#000000\x1b\\'],
  ['a working directory, and notices', '\x1b]7;file://x/\x07\x1b]9;look\x07\x1b]777;notify;a;b\x07'],
  ['device control', '\x1bP$q"p\x1b\\\x1bP1;2|17/ab\x1b\\\x1bPq#0;2;0;0;0~\x1b\\'],
  ['application, privacy and start strings', '\x1b_Ga=T;x\x1b\\\x1b^secret\x1b\\\x1bXx\x1b\\'],
  ['questions about the device', '\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ\x05\x1b[>q\x1b[?u\x1b[x'],
  ['questions about state', '\x1b[5n\x1b[6n\x1b[?6n\x1b[?2026$p\x1b[4$p\x1b[1$w\x1b[1;1;1;1;1;1*y'],
  ['questions about the window, and its size', '\x1b[14t\x1b[18t\x1b[21t\x1b[8;1;1t'],
  ['printing', '\x1b[5i\x1b[?4i'],
  ['controls of eight bits', '\u0084\u009b\u009d\u0090'],
  ['titles with an invisible character', '\x1b]0;a\u0085b\x07\x1b]2;a\u202eb\x07'],
  ['reports of the size, switched on or restored', '\x1b[?2048h\x1b[?25;2048;7h\x1b[?2048r\x1b[?67584h\x1b[?02048h'],
  ['other controls', '\x00\x01\x11\x13\x7f'],
])('%s are removed', (_, text) => {
  expect(filtered(`a${text}\x18b`)).toBe('ab');
});

test('a sequence may be split at every byte', () => {
  const text = 'x\x1b]52;c;aGk=\x07\x1b[31mred\x1b[6n\x1b]0;t\x1b\\é\u009b\x1bP1\x1b\\y';
  const whole = filtered(text);
  expect(whole).toBe('x\x1b[31mred\x1b]0;t\x07éy');
  const split = Buffer.from(text);
  expect(filtered(...Array.from(split, (_, i) => split.subarray(i, i + 1)))).toBe(whole);
});

test.each([
  ['NUL', '\xc2\x00\x9b6n'],
  ['DEL', '\xc2\x7f\x9b6n'],
  ['a removed string', '\xc2\x1b]9;x\x07\x9d52;c;ZXZpbA==\x07'],
  ['a removed sequence', '\xc2\x1b[6n\x9b6n'],
  ['a cancelled sequence', '\xc2\x1b[\x18\x9b6n'],
  ['a half character', '\xc2\xc2\xe2\x9b6n'],
])('%s between the two bytes of a control does not join them', (_, text) => {
  expect(['6n', '52;c;ZXZpbA==\x07']).toContain(filteredBytes(bytes(text)).toString('latin1'));
});

test.each([
  ['a control of one byte', '\x9b6n'],
  ['a control after a character', '\xc3\xa9\x9b6n'],
  ['a control in an overlong form', '\xe0\x82\x9b6n'],
  ['a lead without its end', '\xc2'],
  ['half a character before text', '\xe2\x82x'],
  ['bytes that never occur', '\xc0\x9b\xc1\x9b\xf5\x80\x80\x9b\xff'],
  ['half of a surrogate pair', '\xed\xa0\x80'],
  ['a title with a control of one byte', '\x1b]0;a\x9b6n\x07'],
])('%s is removed', (_, text) => {
  const passed = filteredBytes(bytes(text));
  expect(isUtf8(passed)).toBe(true);
  expect(passed.toString()).toMatch(/^é?(?:6n|x)?$/);
});

test('only the mode that reports the size is refused, and it can be switched off', () => {
  const modes = '\x1b[?2047h\x1b[?2049h\x1b[?204h\x1b[?1;25h\x1b[?25r\x1b[?2048l\x1b[?2048s';
  expect(filtered(modes)).toBe(modes);
});

test('a string without an end hides 64 KiB, and no more', () => {
  const end = filtered('\x1b]52;c;', 'A'.repeat(64 * 1024), 'after');
  expect(end).toMatch(/^.{0,10}after$/);
  expect(filtered('\x1b]52;c;', 'A'.repeat(1000))).toBe('');
});

test('a sequence or a title that is too long is removed', () => {
  expect(filtered(`\x1b[${'1;'.repeat(200)}mx`)).toBe('x');
  expect(filtered(`\x1b]0;${'t'.repeat(2000)}\x07x`)).toBe('x');
});

test('a string that another sequence interrupts ends there', () => {
  expect(filtered('\x1b]52;c;x\x1b[31mred')).toBe('\x1b[31mred');
  expect(filtered('\x1b]52;c;x\x1b]0;t\x07')).toBe('\x1b]0;t\x07');
});

/** What a terminal writes back. */
const answersTo = async (text: string): Promise<string> => {
  const terminal = new xterm.Terminal({ allowProposedApi: true });
  let answers = '';
  terminal.onData((data) => {
    answers += data;
  });
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  terminal.dispose();
  return answers;
};

test('a real terminal answers the questions, and none of what the filter passes', async () => {
  const questions = '\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?2026$p\x1bP$qm\x1b\\\x1b[>q';
  expect(await answersTo(questions)).not.toBe('');
  expect(await answersTo(filtered(questions))).toBe('');
  // Every one- and two-part sequence with each end.
  const ends = Array.from({ length: 0x7e - 0x40 + 1 }, (_, i) => String.fromCharCode(0x40 + i));
  const forms = ['', '0', '1', '6', '?', '?6', '>', '>0', '=', '<', '!', '$', '1$', '?1$', '"', '*', "'"];
  const all = forms.flatMap((form) => ends.map((end) => `\x1b[${form}${end}`));
  for (const one of all) expect(await answersTo(filtered(one)), JSON.stringify(one)).toBe('');
});

/** Controls of eight bits, the clipboard, questions about device and state, and the report of the size. */
const FORBIDDEN = new RegExp(['[\u0080-\u009f]', '\x1b\\]52', '\x1b\\[[^@-~]*(?:[nc]|2048[^@-~]*h)'].join('|'));

/** Cuts at these places, which may lie beyond the end. */
const cutAt = (whole: Buffer, places: readonly number[]): Buffer[] => {
  const cuts = [0, ...places.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length];
  return cuts.slice(1).map((end, i) => whole.subarray(cuts[i], end));
};
const places = fc.array(fc.nat(100), { maxLength: 20 });

const removed = fc.constantFrom(
  '\x00',
  '\x7f',
  '\x05',
  '\x1b]9;x\x07',
  '\x1b[6n',
  '\x1b[\x18',
  '\x1bP1\x1b\\',
  '\x9b',
  '\xc2',
);

/** What attacks are made of, between any bytes. */
const attack = fc
  .array(
    fc.oneof(
      removed,
      fc.constantFrom('\xc2', '\xe0\x82', '\xc2\x9b', '\xc2\x9d', '\x9b', '\x9d', '\x1b', '\x1b[', '\x1b]', '\x1bP'),
      fc.constantFrom(
        '6n',
        'c',
        '>c',
        '?1;2048h',
        '52;c;ZXZpbA==\x07',
        '0;t',
        '\x07',
        '$qm\x1b\\',
        '\xc3\x9b',
        '\xe2\x82\xac',
      ),
      fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
    ),
    { maxLength: 24 },
  )
  .map((parts) => bytes(parts.join('')));

test('a terminal answers to no bytes of an agent, cut anywhere, and its clipboard stays', async () => {
  const terminal = new xterm.Terminal({ allowProposedApi: true });
  const effects: string[] = [];
  terminal.onData((data) => effects.push(data));
  terminal.parser.registerOscHandler(52, (data) => effects.push(data) > 0);
  await fc.assert(
    fc.asyncProperty(attack, places, async (printed, cuts) => {
      const passed = filteredBytes(...cutAt(printed, cuts));
      expect(passed).toEqual(filteredBytes(printed));
      expect(isUtf8(passed)).toBe(true);
      expect(passed.toString()).not.toMatch(FORBIDDEN);
      await new Promise<void>((resolve) => terminal.write(passed, resolve));
      expect(effects).toEqual([]);
    }),
    { numRuns: 500 },
  );
  terminal.dispose();
});

test('any text in UTF-8, cut anywhere, passes unchanged, and without what is removed between its characters', () => {
  const printable = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/\p{Cc}/gu, ''));
  fc.assert(
    fc.property(fc.array(fc.tuple(printable, removed)), places, (parts, cuts) => {
      const text = parts.map(([one]) => one).join('');
      expect(filteredBytes(...cutAt(Buffer.from(text), cuts)).toString()).toBe(text);
      const mixed = Buffer.concat(parts.flatMap(([one, between]) => [Buffer.from(one), bytes(between)]));
      expect(filteredBytes(...cutAt(mixed, cuts)).toString()).toBe(text);
    }),
    { numRuns: 200 },
  );
});

test('the reset returns a terminal to its own screen, colours and modes', async () => {
  const terminal = new xterm.Terminal({ allowProposedApi: true, cols: 40, rows: 5 });
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  await write('own\r\n\x1b[?1049h\x1b[31m\x1b[2;3r\x1b[?6h\x1b[?1h\x1b[?1003h\x1b[?2004h\x1b[4h\x1b[?7l\x1b(0lqk');
  await write(TERMINAL_RESET);
  await write('lqk');
  expect(terminal.buffer.active.type).toBe('normal');
  expect(terminal.buffer.active.getLine(0)?.translateToString(true)).toBe('own');
  const { modes } = terminal;
  expect(modes).toMatchObject({
    applicationCursorKeysMode: false,
    bracketedPasteMode: false,
    insertMode: false,
    mouseTrackingMode: 'none',
    originMode: false,
    wraparoundMode: true,
  });
  const lines = Array.from({ length: 5 }, (_, i) => terminal.buffer.active.getLine(i)?.translateToString(true));
  expect(lines).toContain('lqk');
  expect(terminal.buffer.active.getLine(lines.indexOf('lqk'))?.getCell(0)?.isFgDefault()).toBe(true);
  terminal.dispose();
});
