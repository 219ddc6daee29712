import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-tune-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, content: string): string => {
  writeFileSync(path.join(dir, name), content);
  return path.join(dir, name);
};

const vigil = async (...args: readonly string[]) => {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [vigilProgram, ...args], { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
};

/** A policy that allows two minutes for a tool call without a deadline of its own. */
const twoMinutes = file(
  'two-minutes.yaml',
  `policy: two-minutes
signals: { call_overdue: { buffer: 0s, default_deadline: { tool: 2m } } }
states: { STUCK: [call_overdue] }
exemptions: { call_in_flight: { default_deadline: { tool: 2m } } }
`,
);
const run = (i: number, longest: number) => {
  const call = (started_at: number, takes: number) => ({
    ...{ tool: 'Bash', args: `${i}/${started_at}`, result: 'ok', err: false, started_at, ts: started_at + takes },
  });
  return JSON.stringify({ run_id: `run-${i}`, success: true, calls: [call(0, 5), call(10, longest), call(1000, 5)] });
};
const history = file(
  'history.jsonl',
  `${Array.from({ length: 20 }, (_, i) => run(i, i < 4 ? 200 + 100 * i : 30)).join('\n')}\n`,
);

test('a limit that a history contradicts is proposed with its evidence, in a policy that can be loaded', async () => {
  const out = path.join(dir, 'tuned.yaml');
  const tuned = await vigil('tune', '--policy', twoMinutes, '--out', out, history);
  expect(tuned).toMatchObject({ code: 0, err: '' });
  expect(tuned.out).toMatch(/^20 agents or runs, 20 of them successful, /);
  expect(tuned.out).toMatch(/call_overdue\.default_deadline\.tool +STUCK +2 min +now +4 +4 /);
  expect(tuned.out).toContain('At 2 min 4 of 4 findings were wrong, in 4 of 20 agents or runs: 4 in Bash.');
  expect(tuned.out).toContain('60 calls of Bash declared no deadline: half of them took at most 5 s');
  expect(readFileSync(out, 'utf8')).toMatch(
    /^# two-minutes, with limits .*\n# call_overdue\.default_deadline\.tool: 2 min → 10 min\.\n(# .*\n)+policy: two-minutes\n/,
  );
  expect(await vigil('policy', 'check', out)).toMatchObject({ code: 0 });
  const again = await vigil('tune', '--policy', out, history);
  expect(again.out).toContain('No change is proposed.');
  const existing = await vigil('tune', '--policy', twoMinutes, '--out', out, history);
  expect(existing).toMatchObject({ code: 2, err: expect.stringContaining('exists, and is not overwritten') });
});

test('a history with nothing to judge exits with code 2, and so does one that cannot be read', async () => {
  const empty = await vigil('tune', file('empty.jsonl', ''));
  expect(empty).toMatchObject({ code: 2, out: '' });
  const missing = await vigil('tune', path.join(dir, 'none.jsonl'));
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('ENOENT') });
});

const traces = path.resolve(import.meta.dirname, '../../../../../shared/traces/claude_code.jsonl.gz');

test.skipIf(!existsSync(traces))(
  'two minutes are wrong for the Bash of Claude Code: its recorded runs show it, and what is enough',
  async () => {
    const { out } = await vigil('tune', '--policy', twoMinutes, '--json', traces);
    const { limits, changes, before, after } = JSON.parse(out);
    const { present, proposed, durations } = limits[0];
    expect(present.value).toBe(120_000);
    expect(present.wrongWorks).toBeGreaterThan(10);
    expect(present.tools[0].tool).toBe('Bash');
    expect(durations).toMatchObject({ tool: 'Bash' });
    expect(durations.longest).toBeGreaterThan(600);
    expect(proposed.value).toBeGreaterThanOrEqual(600_000);
    expect(changes).toHaveLength(1);
    expect(after.wrong).toBeLessThan(before.wrong / 5);
  },
);
