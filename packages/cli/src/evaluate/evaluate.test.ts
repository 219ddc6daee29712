import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';
import { claudeCodeFile } from './sessions.fixture.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-evaluate-'));
afterAll(() => rmSync(dir, { recursive: true }));

const file = (name: string, content: string | Buffer): string => {
  writeFileSync(path.join(dir, name), content);
  return path.join(dir, name);
};
const call = (args: string) => ({ tool: 'bash', args, result: 'the same' });
const looping = (run_id: string) =>
  JSON.stringify({
    run_id,
    src: 's',
    success: false,
    label: 'loop',
    calls: Array.from({ length: 6 }, () => call('ls')),
  });
const steady = (run_id: string) =>
  JSON.stringify({ run_id, src: 't', success: true, label: 'clean', calls: ['a', 'b', 'c'].map(call) });
const lines = (...runs: readonly string[]) => `${runs.join('\n')}\n`;

type End = { readonly code: number | null; readonly out: string; readonly err: string };

const evaluate = async (args: readonly string[], input: string | Buffer = ''): Promise<End> => {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [vigilProgram, 'evaluate', ...args], { env: { PATH }, stdio: 'pipe' });
  child.stdin.end(input);
  const [out, err] = [child.stdout, child.stderr].map(async (stream) => {
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    return text;
  });
  const [code] = await once(child, 'close');
  return { code, out: (await out) ?? '', err: (await err) ?? '' };
};

const judged = (run_id: string) => ({
  run_id,
  worst: 'STUCK',
  changes: [
    { to: 'DEGRADED', call: 4, at: 15, signals: ['repeating'] },
    { to: 'STUCK', call: 5, at: 20, signals: ['looping'] },
  ],
});
const well = (run_id: string) => ({ run_id, worst: 'HEALTHY', changes: [] });
const allOf = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/** The lines of runs. */
const parsed = (out: string) => allOf(out).filter((line) => 'run_id' in line);

test('a line a run, in the order of files and lines, plain or gzipped or from standard input', async () => {
  const plain = file('plain.gz', lines(looping('a'), steady('b')));
  const packed = file('packed.jsonl', Buffer.concat([gzipSync(lines(steady('c'))), gzipSync(looping('d'))]));
  const { code, out, err } = await evaluate(['--json', plain, packed, '-'], gzipSync(lines('', steady('e'), '')));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(parsed(out)).toEqual([
    { ...judged('a'), file: plain, line: 1 },
    { ...well('b'), file: plain, line: 2 },
    { ...well('c'), file: packed, line: 1 },
    { ...judged('d'), file: packed, line: 2 },
    { ...well('e'), file: '-', line: 2 },
  ]);
});

test('--gap sets the time between calls', async () => {
  const { out } = await evaluate(['--json', '--gap', '1m', '-'], looping('a'));
  expect(parsed(out)[0].changes[1].at).toBe(240);
});

test('a policy may be a file', async () => {
  const policy =
    'policy: strict\nsignals: { looping: { is: repeated_calls, times: 2 } }\nstates: { FAILING: [looping] }\n';
  const { code, out } = await evaluate(['--json', '--policy', file('strict.yaml', policy), '-'], looping('a'));
  expect(code).toBe(0);
  expect(parsed(out)[0].changes).toEqual([{ to: 'FAILING', call: 2, at: 5, signals: ['looping'] }]);
});

test('a line that cannot be read is named with its field, the rest is judged, and the end is 1', async () => {
  const bad = file(
    'bad.jsonl',
    lines(steady('a'), '{"run_id":"b","calls":[{"tool":"bash","ts":"soon"}]}', 'x\u001b[2J', steady('c')),
  );
  const { code, out, err } = await evaluate(['--json', bad]);
  expect(code).toBe(1);
  expect(parsed(out)).toMatchObject([well('a'), well('c')]);
  expect(err).toContain(`vigil: ${bad}:2: calls[0].ts: "soon" is no time`);
  expect(err).toContain(`vigil: ${bad}:3: no JSON`);
  expect(err).not.toContain('\u001b');
});

test('a file that is not there, or ends in the midst of its gzip, is named, and the others are judged', async () => {
  const cut = file(
    'cut.gz',
    gzipSync(lines(...Array.from({ length: 50 }, (_, i) => steady(`run-${i}`)))).subarray(0, -12),
  );
  const { code, out, err } = await evaluate(['--json', path.join(dir, 'none.jsonl'), cut, '-'], steady('z'));
  expect(code).toBe(1);
  expect(err).toContain('none.jsonl: ENOENT');
  expect(err).toContain(`${cut}: the gzip file ends in the middle`);
  expect(parsed(out).at(-1)).toMatchObject(well('z'));
});

const member = (...runs: readonly string[]) => gzipSync(lines(...runs));

const withWrongSum = (bytes: Buffer): Buffer => bytes.fill(0, bytes.length - 8, bytes.length - 4);

test.each([
  ['other bytes after it', Buffer.concat([member(steady('a'), steady('b')), Buffer.from('junk\n')])],
  [
    'other bytes after a content without a newline',
    Buffer.concat([member(steady('a')), gzipSync(steady('b')), Buffer.from('j')]),
  ],
  [
    'a second member that is damaged',
    Buffer.concat([member(steady('a'), steady('b')), member(steady('c')).fill(7, 12)]),
  ],
  [
    'a second member that is cut',
    Buffer.concat([member(steady('a'), steady('b')), member(steady('c')).subarray(0, 14)]),
  ],
  ['a wrong checksum', withWrongSum(member(steady('a'), steady('b')))],
])('the runs of a gzip file with %s are judged, and the damage is reported with 1', async (_, content) => {
  const damaged = file('damaged.gz', content);
  const { code, out, err } = await evaluate(['--json', damaged]);
  expect(parsed(out)).toMatchObject([well('a'), well('b')]);
  expect(code).toBe(1);
  expect(err).toMatch(new RegExp(`^vigil: ${damaged}: [^\\n]+\\n$`));
});

test('the session in a gzip file is judged, and other bytes after it are reported', async () => {
  const session = claudeCodeFile({ commands: Array.from({ length: 5 }, () => 'ls'), isDone: false });
  const { code, out, err } = await evaluate(['--json', '-'], Buffer.concat([gzipSync(session), Buffer.from('junk')]));
  expect(parsed(out)).toMatchObject([{ run_id: 's-claude', worst: 'STUCK' }]);
  expect({ code, err }).toEqual({ code: 1, err: 'vigil: -: other bytes follow the gzip content, and were not read\n' });
});

test('members without content, a name in the header and zeros at the end do not count as damage', async () => {
  const named = Buffer.concat([
    member(steady('b')).subarray(0, 10),
    Buffer.from('runs.jsonl\0'),
    member(steady('b')).subarray(10),
  ]);
  named[3] = 8;
  const all = [gzipSync(''), member(steady('a')), gzipSync(''), named, Buffer.alloc(70_000)];
  const { code, out, err } = await evaluate(['--json', '-'], Buffer.concat(all));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(parsed(out)).toMatchObject([well('a'), well('b')]);
});

test('a member of many chunks is read whole', async () => {
  const many = Array.from({ length: 3_000 }, (_, i) => steady(`run-${i}-${'x'.repeat(i)}`));
  const { out, err } = await evaluate(['--json', '-'], member(...many));
  expect(err).toBe('');
  expect(parsed(out)).toHaveLength(3_000);
});

test('bytes that are not UTF-8 are reported with their line, and the other runs are judged', async () => {
  const latin = Buffer.from(steady('caf\u00e9'), 'latin1');
  const bad = file(
    'latin.jsonl',
    Buffer.concat([Buffer.from(lines(steady('a'))), latin, Buffer.from(`\n${steady('\u00e9')}`)]),
  );
  const { code, out, err } = await evaluate(['--json', bad]);
  expect(parsed(out)).toMatchObject([well('a'), well('\u00e9')]);
  expect(code).toBe(1);
  expect(err).toBe(
    `vigil: ${bad}:2: bytes that are not UTF-8 follow "{\\"run_id\\":\\"caf": convert the file to UTF-8\n`,
  );
});

test('ten complaints are printed, the rest are counted; a folder and a repeated run are named', async () => {
  const bad = file('many.jsonl', lines(steady('a'), ...Array.from({ length: 12 }, () => '{"run_id":"b"}')));
  const { err } = await evaluate(['--json', bad]);
  expect(err.trimEnd().split('\n')).toHaveLength(11);
  expect(err).toContain('vigil: and 2 more like these\n');
  expect((await evaluate(['--json', dir])).err).toBe(`vigil: ${dir}: it is a folder: name the files in it\n`);
  const twice = file('twice.jsonl', lines(steady('a'), steady('a')));
  expect((await evaluate(['--json', twice])).err).toBe(`vigil: ${twice}:2: the run_id a came before, at ${twice}:1\n`);
});

test('an unknown policy ends with 2 and the possible names', async () => {
  const { code, err } = await evaluate(['--policy', 'nonsense', '-']);
  expect(code).toBe(2);
  expect(err).toMatch(/"nonsense" is neither a preset nor a file: give one of .*vigil/);
  expect((await evaluate(['--policy', file('bad.yaml', 'policy: 7'), '-'])).code).toBe(2);
  const folder = await evaluate(['--policy', dir, '-']);
  expect({ ...folder, err: folder.err.trim() }).toEqual({
    code: 2,
    out: '',
    err: expect.stringMatching(/^vigil: "[^"]+" is a folder: give a preset's name, or the path of a policy\.$/),
  });
});

test('signals that the record cannot feed are named once a file, and that nothing can be flagged', async () => {
  const [some, more] = [file('some.jsonl', lines(looping('a'), steady('b'))), file('more.jsonl', steady('c'))];
  const { code, out } = await evaluate(['--policy', 'hive', some, more]);
  expect(code).toBe(0);
  expect(out).toContain(
    `Under hive nothing in ${some} and 1 more can be judged STUCK or FAILING.\n` +
      `Signals of hive that cannot fire in ${some} and 1 more:\n` +
      '  no steps: no_accept, no_accept_long, no_step\n  no error classes: unrecoverable_error\n',
  );
  const known = file('known.jsonl', JSON.stringify({ run_id: 'd', calls: [{ ...call('ls'), error_class: 'x' }] }));
  expect((await evaluate(['--policy', 'hive', known])).out).not.toContain('nothing in');
  expect((await evaluate(['--policy', 'vigil', some])).out).not.toContain('nothing in');
});

test('--json names them after the runs of each file, with what the file lacks', async () => {
  const known = file(
    'known.jsonl',
    lines(steady('b'), JSON.stringify({ run_id: 'd', calls: [{ ...call('ls'), error_class: 'x' }] })),
  );
  const { out } = await evaluate(['--json', '--policy', 'hive', '-', known], lines(steady('a')));
  const steps = ['no_accept', 'no_accept_long'].map((signal) => ({ signal, missing: ['steps'] }));
  const noStep = { signal: 'no_step', missing: ['steps', 'times'] };
  const fatal = { signal: 'unrecoverable_error', missing: ['error_classes'] };
  expect(allOf(out)).toMatchObject([
    { run_id: 'a' },
    { file: '-', policy: 'hive', can_flag: false, unfed: [...steps, noStep, fatal] },
    { run_id: 'b' },
    { run_id: 'd' },
    { file: known, policy: 'hive', can_flag: true, unfed: [...steps, noStep] },
  ]);
});

test('--gap does not make silence of runs without times', async () => {
  const { out } = await evaluate(['--json', '--gap', '7m', '-'], steady('a'));
  expect(parsed(out)).toMatchObject([well('a')]);
});

test('for people: a table by source, and what stands against success and label', async () => {
  const runs = lines(looping('a'), steady('b'), looping('c').replace('"success":false', '"success":true'));
  const { code, out } = await evaluate(['-'], runs);
  expect(code).toBe(0);
  expect(out).toMatch(/s +2 +1 +0 +2 +0 +1 +2 of 2 +5, 5/);
  expect(out).toMatch(/t +1 +1 +0 +0 +0 +0 +- +-/);
  expect(out).toContain('1 of 2 successful runs judged STUCK or FAILING (50.0 %).\n  s c: STUCK at call 5: looping\n');
  expect(out).toContain('2 of 2 runs labelled loop caught (100.0 %).');
  expect((await evaluate(['-'])).out).toBe('No runs.\n');
});

test('the call at which a loop was caught counts from the start of the loop', async () => {
  const before = ['a', 'b', 'c', 'd'].map(call);
  const late = (calls: readonly object[]) =>
    JSON.stringify({ run_id: 'x', src: 's', label: 'loop', calls: [...before, ...calls] });
  const row = Array.from({ length: 6 }, () => call('ls'));
  expect((await evaluate(['-'], late(row))).out).toMatch(/AT CALL OF THE LOOP \(MEDIAN, LAST\)\n.* 1 of 1 +5, 5\n/);
  const cycle = Array.from({ length: 12 }, (_, i) => call(i % 2 === 0 ? 'x' : 'y'));
  expect((await evaluate(['-'], late(cycle))).out).toMatch(/ 1 of 1 +8, 8\n/);
});

test('a session that claims to be done falsely is listed, an honest one is not', async () => {
  const session = { commands: ['ls', 'npm test'], isDone: true };
  const honest = await evaluate([file('honest', claudeCodeFile(session))]);
  expect(honest.out).not.toContain('claim to be done');
  const { out } = await evaluate([file('false', claudeCodeFile({ ...session, failing: ['npm test'] }))]);
  const listed = '(false_completion): 1.\n  claude-code s-claude: DEGRADED after call 2\n';
  expect(out).toContain(`Runs that claim to be done although their calls contradict it ${listed}`);
});

test('a session that is flagged is listed, since its outcome is not known; a file of no known format ends with 1', async () => {
  const session = file('session', claudeCodeFile({ commands: Array.from({ length: 5 }, () => 'ls'), isDone: false }));
  const { code, out, err } = await evaluate([session, file('page.md', '# A page\n')]);
  expect(code).toBe(1);
  expect(out).toContain('1 of 1 runs of unknown outcome judged STUCK or FAILING (100.0 %).');
  expect(out).toContain('  claude-code s-claude: STUCK at call 5: looping\n');
  expect(err).toContain('page.md: the format is not known; it begins with # A page - give recorded runs');
});
