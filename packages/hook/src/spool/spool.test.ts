import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { append, readSpool, type SpoolRecord, spoolFile } from './spool.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-spool-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const path = () => join(dir, 'deeper', spoolFile('claude-code', 's-1'));
const record = (id: string): SpoolRecord => ({
  id,
  client: 'claude-code',
  session: 's-1',
  transcripts: [],
  takesText: false,
  canRefuse: false,
  continuesTurn: false,
  events: [{ kind: 'turn_started', at: 1, agent: null }],
});
const idsFrom = (offset: number, isOver = false) =>
  readSpool(path(), offset, isOver).entries.map(({ record: { id } }) => id);

test('records are read in the order in which they were appended, and from any offset on each once', () => {
  for (const id of ['a', 'b', 'c']) append(path(), record(id));
  const { entries, offset } = readSpool(path(), 0, false);
  expect(entries.map(({ record: { id } }) => id)).toEqual(['a', 'b', 'c']);
  expect(idsFrom(entries[0]?.end ?? 0)).toEqual(['b', 'c']);
  expect(idsFrom(offset)).toEqual([]);
  append(path(), record('d'));
  expect(idsFrom(offset)).toEqual(['d']);
});

test('a spool that does not exist has no records', () =>
  expect(readSpool(path(), 0, true)).toEqual({ entries: [], offset: 0 }));

test('a torn record is dropped alone; those before and behind it are read', () => {
  append(path(), record('a'));
  appendFileSync(path(), '\n{"id":"torn","client":"cl');
  append(path(), record('b'));
  appendFileSync(path(), 'no json\n[]\nnull\n{"id":7}\n');
  append(path(), record('c'));
  expect(idsFrom(0)).toEqual(['a', 'b', 'c']);
});

test('a last line without its end is left until it is complete, and read when no hook runs any more', () => {
  append(path(), record('a'));
  const whole = JSON.stringify(record('b'));
  appendFileSync(path(), `\n${whole.slice(0, 20)}`);
  const { entries, offset } = readSpool(path(), 0, false);
  expect(entries).toHaveLength(1);
  expect(offset).toBeLessThan(statSync(path()).size);
  expect(idsFrom(offset)).toEqual([]);
  appendFileSync(path(), whole.slice(20));
  expect(idsFrom(offset)).toEqual([]);
  expect(idsFrom(offset, true)).toEqual(['b']);
});

test('a torn last line is dropped when no hook runs any more', () => {
  append(path(), record('a'));
  appendFileSync(path(), '\n{"id":"torn"');
  expect(idsFrom(0, true)).toEqual(['a']);
});

test('a line of 3 MB holds nothing up', () => {
  append(path(), record('a'));
  appendFileSync(path(), `"${'x'.repeat(3 << 20)}"\n`);
  append(path(), record('b'));
  expect(idsFrom(0)).toEqual(['a', 'b']);
});

test('of processes that append beside each other each record is whole', async () => {
  const code = `
    import { append } from ${JSON.stringify(join(import.meta.dirname, 'spool.ts'))};
    for (let n = 0; n < 50; n += 1)
      append(process.argv[1], { ...JSON.parse(process.argv[2]), id: process.argv[3] + '-' + n });`;
  const runs = Array.from(
    { length: 4 },
    (_, n) =>
      new Promise<number | null>((resolve) => {
        const texts = ['--input-type=module', '-e', code, '--', path(), JSON.stringify(record('x')), String(n)];
        spawn(process.execPath, texts, { stdio: 'inherit' }).on('close', resolve);
      }),
  );
  expect(await Promise.all(runs)).toEqual([0, 0, 0, 0]);
  const ids = idsFrom(0);
  expect(new Set(ids).size).toBe(200);
  for (const n of [0, 1, 2, 3])
    expect(ids.filter((id) => id.startsWith(`${n}-`))).toEqual(Array.from({ length: 50 }, (_, i) => `${n}-${i}`));
});

test('a pipe or a device in the place of a spool or a transcript has no lines, and is not waited for', () => {
  const pipe = join(dir, 'pipe.jsonl');
  execFileSync('mkfifo', [pipe]);
  const code = `
    import { linesFrom } from ${JSON.stringify(join(import.meta.dirname, 'lines.ts'))};
    for (const path of process.argv.slice(1)) console.log(JSON.stringify(linesFrom(path, 0, 100)));`;
  const read = spawnSync(process.execPath, ['--input-type=module', '-e', code, '--', pipe, '/dev/zero', dir], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const none = '{"lines":[],"offset":0}\n';
  expect(read).toMatchObject({ signal: null, stdout: none.repeat(3) });
});
