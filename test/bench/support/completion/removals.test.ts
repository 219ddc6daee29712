import { expect, test } from 'vitest';
import { removesOwnFile } from './removals.ts';

const call = (tool: string, args: unknown, err = false) => ({ tool, args, err, args_h: '', resn_h: '', ts: null });
const write = (file: string, err = false) => call('Write', { file_path: file }, err);
const bash = (command: string) => call('Bash', { command });

test('a run that removes a file that it wrote before removes its own file', () => {
  expect(
    removesOwnFile({ calls: [write('/app/try.py'), bash('python try.py'), bash('cd /app && rm -f try.py')] }),
  ).toBe(true);
  expect(removesOwnFile({ calls: [write('/app/try.py'), bash('mv try.py tests/')] })).toBe(true);
});

test('a file of others, a file that was not written, and a command that removes nothing do not count', () => {
  expect(removesOwnFile({ calls: [write('/app/main.py'), bash('rm -f old.py')] })).toBe(false);
  expect(removesOwnFile({ calls: [write('/app/try.py', true), bash('rm try.py')] })).toBe(false);
  expect(removesOwnFile({ calls: [bash('rm try.py'), write('/app/try.py'), bash('python try.py --rm')] })).toBe(false);
});
