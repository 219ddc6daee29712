import xterm from '@xterm/headless';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { hasTitle, TerminalNotice } from './terminal-notice.ts';

const LINE = 'vigil: not watched: no gateway answers';
const SHOWN = `\x1b[22;2t\x1b]2;${LINE}\x1b\\`;
const BEL = '\x07';
const EMPTY = '\x1b]2;\x1b\\';

let all: string;
let notice: TerminalNotice;
beforeEach(() => {
  all = '';
  notice = new TerminalNotice((text) => {
    all += text;
  }, true);
});
const prints = (text: string | Uint8Array): void => {
  all += Buffer.from(text).toString('latin1');
  notice.written(Buffer.from(text));
};

test('a line is the title of the terminal at once, with a bell, and is taken back at the end', () => {
  prints('text');
  notice.show(LINE, true);
  expect(all).toBe(`text${SHOWN}${BEL}`);
  notice.end();
  expect(all).toBe(`text${SHOWN}${BEL}${EMPTY}\x1b[23;2t`);
  notice.end();
  expect(all).toHaveLength(`text${SHOWN}${BEL}${EMPTY}\x1b[23;2t`.length);
});

test('a line that is taken back rings too, and leaves the title that the program has set', () => {
  prints('\x1b]0;my task\x07');
  notice.show(LINE, true);
  prints('\x1b]2;my next task\x1b\\');
  notice.show(null, true);
  expect(
    all.endsWith(`${BEL}\x1b]2;my next task\x1b\\\x1b]2;${LINE}\x1b\\\x1b[23;2t\x1b]2;my next task\x1b\\${BEL}`),
  ).toBe(true);
});

const [ESC, ST] = ['\x1b', '\x1b\\\\'];
const SEQUENCE = new RegExp(`${ESC}\\][02];.*?(?:${BEL}|${ST})|${ESC}\\[2[23];2t`, 'g');
const FRAME = new RegExp(`^${ESC}\\][02];|${BEL}$|${ST}$`, 'g');

/**
 * The title that a terminal shows at the end. `hasStack`: it keeps titles on a stack, else it ignores unknown
 * sequences.
 */
const titleAfter = (written: string, hasStack: boolean): string => {
  const stack: string[] = [];
  const pieces: readonly string[] = written.match(SEQUENCE) ?? [];
  return pieces.reduce((title, piece) => {
    if (piece.startsWith('\x1b]')) return piece.replace(FRAME, '');
    if (!hasStack) return title;
    if (piece === '\x1b[22;2t') stack.push(title);
    return piece === '\x1b[23;2t' ? (stack.pop() ?? title) : title;
  }, 'the shell');
};

test.each([
  ['with a stack of titles has the title that it had before', true, '', 'the shell'],
  ['without one has an empty title, and not the line', false, '', ''],
  ['with a stack of titles has the title of the program', true, '\x1b]0;my task\x07', 'my task'],
  ['without one has the title of the program', false, '\x1b]0;my task\x07', 'my task'],
])('at the end a terminal %s', (_, hasStack, output, title) => {
  prints(output);
  notice.show(LINE, true);
  expect(titleAfter(all, hasStack)).toBe(LINE);
  notice.end();
  expect(titleAfter(all, hasStack)).toBe(title);
});

test('the same line again is written once, and without a line nothing is written', () => {
  prints('\x1b]0;my task\x07');
  notice.show(null, true);
  notice.end();
  expect(all).toBe('\x1b]0;my task\x07');
  notice.show(LINE, false);
  notice.show(LINE, true);
  expect(all).toBe(`\x1b]0;my task\x07${SHOWN}`);
});

test.each([
  ['a control sequence', '\x1b[38;5', ';1m'],
  ['a sequence of two characters', '\x1b', '7'],
  ['a character set', '\x1b(', 'B'],
  ['a title', '\x1b]0;my ta', 'sk\x07'],
  ['a string with its end', '\x1bPq#0\x1b', '\\'],
  ['a character', Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)],
])('nothing is written into the middle of %s', (_, first, second) => {
  prints(first);
  notice.show(LINE, true);
  expect(all).not.toContain(LINE);
  prints(second);
  expect(all).toContain(LINE);
});

test('what a gateway answers cannot control the terminal, and a long line is cut', () => {
  notice.show(`a\x07\x1b]52;c;x\x07${'b'.repeat(500)}`, false);
  const title = all.slice('\x1b[22;2t\x1b]2;'.length, -2);
  expect(title).not.toMatch(/\p{Cc}/u);
  expect(title.length).toBeLessThanOrEqual(160);
});

test('a terminal without titles gets the bell only', () => {
  for (const [term, has] of [
    ['xterm-256color', true],
    ['tmux', true],
    ['linux', false],
    ['dumb', false],
    [undefined, false],
  ] as const)
    expect([term, hasTitle(term)]).toEqual([term, has]);
  const plain = new TerminalNotice((text) => {
    all += text;
  }, false);
  plain.show(LINE, true);
  plain.end();
  expect(all).toBe(BEL);
});

const drawn = async (chunks: readonly string[]): Promise<string> => {
  const terminal = new xterm.Terminal({ cols: 30, rows: 6, allowProposedApi: true });
  for (const chunk of chunks) await new Promise<void>((resolve) => terminal.write(Buffer.from(chunk), resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: 6 }, (__, row) => active.getLine(row)?.translateToString() ?? '');
  return JSON.stringify([lines, active.cursorX, active.cursorY, active.type]);
};

const piece = fc.constantFrom(
  ...['ab', ' ', '\r\n', '\x1b[31m', '\x1b[2;5H', '\x1b[?1049h', '\x1b[?1049l', '\x1b[2J', '\x1b[K', '\x1b7', '\x1b8'],
  ...['\x1b]0;a title\x07', '\x1b]2;b\x1b\\', '\x1b(B', '\x1bPq#1\x1b\\', '\x1b[?25l'],
);

test('the screen of a program is the same with and without the line, wherever its output is cut', async () => {
  const way = fc.record({ pieces: fc.array(piece, { maxLength: 12 }), cut: fc.nat(60), again: fc.nat(60) });
  await fc.assert(
    fc.asyncProperty(way, async ({ pieces, cut, again }) => {
      const output = pieces.join('');
      const [one, two] = [Math.min(cut, again, output.length), Math.min(Math.max(cut, again), output.length)];
      const chunks: string[] = [];
      const between = new TerminalNotice((text) => void chunks.push(text), true);
      const goes = (text: string): void => {
        chunks.push(text);
        between.written(Buffer.from(text));
      };
      goes(output.slice(0, one));
      between.show(LINE, true);
      goes(output.slice(one, two));
      between.show(null, true);
      goes(output.slice(two));
      between.end();
      expect(await drawn(chunks)).toBe(await drawn([output]));
    }),
    { numRuns: 60 },
  );
});
