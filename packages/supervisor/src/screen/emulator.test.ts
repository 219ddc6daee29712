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
