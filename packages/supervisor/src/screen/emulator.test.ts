import { expect, test } from 'vitest';
import { Emulator, noEmulatorMemory } from './emulator.ts';

const drawn = async (output: string): Promise<readonly string[]> => {
  const emulator = new Emulator({ columns: 20, rows: 4 }, noEmulatorMemory);
  await emulator.write(output);
  return emulator.view.lines;
};

test.each(['S', 'T', 'L', 'M', 'I', 'Z', 'b'])(
  'a sequence that repeats two billion times does not stop the supervisor: CSI 2147483647 %s',
  async (final) => {
    expect(await drawn(`a\x1b[2147483647${final}b`)).toEqual(['ab', '', '', '']);
  },
);

test('a sequence that repeats as often as the screen has rows or columns is drawn', async () => {
  expect(await drawn('one\r\ntwo\r\nthree\x1b[2S')).toEqual(['three', '', '', '']);
  expect(await drawn('one\x1b[4S')).toEqual(['', '', '', '']);
  expect(await drawn('a\x1b[19b')).toEqual(['a'.repeat(20), '', '', '']);
});

const historyOf = async (output: string) => {
  const emulator = new Emulator({ columns: 20, rows: 4 }, noEmulatorMemory);
  await emulator.write(output);
  return emulator.history;
};
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `line ${i}`);

test('the history has the lines above the screen, and counts those that have left it', async () => {
  expect(await historyOf(numbered(6).join('\r\n'))).toEqual({ lines: numbered(6), passed: 2 });
  const { lines, passed } = await historyOf(numbered(300).join('\r\n'));
  expect([lines, passed]).toEqual([numbered(300).slice(-204), 296]);
});

test('a line that the terminal divides over rows is one line of the history', async () => {
  const line = 'a word and an API_KEY=0123456789 that is divided';
  expect((await historyOf(`${line}\r\nnext`)).lines).toEqual([line, 'next']);
});

test('a line that a program has drawn again is in the history as it was drawn last', async () => {
  expect((await historyOf('10 %\r50 %\r\none\x1b[1A\rtwo\x1b[K')).lines).toEqual(['two', 'one']);
});
