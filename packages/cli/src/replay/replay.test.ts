import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { exportSpan, logSource } from '@vigil/health/replay';
import { judgedFleet, presetNamed, START } from '@vigil/health/replay-fixture';
import { afterAll, expect, test } from 'vitest';
import { vigilProgram } from '../program.fixture.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-replay-'));
afterAll(() => rmSync(dir, { recursive: true }));

const lines: string[] = [];
const fleet = await judgedFleet([presetNamed('vigil')]);
await exportSpan(
  await logSource(fleet.log, { from: null, to: null, agent: null }, () => {}),
  { version: '0.1.0', exportedAt: START },
  (line) => lines.push(line),
  new AbortController().signal,
);

const file = (name: string, of: readonly string[]): string => {
  writeFileSync(path.join(dir, name), gzipSync(`${of.join('\n')}\n`));
  return path.join(dir, name);
};
const incident = file('incident.ndjson.gz', lines);

type End = { readonly code: number | null; readonly out: string; readonly err: string };

const vigil = async (...args: readonly string[]): Promise<End> => {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [vigilProgram, ...args], { env: { PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
};

test('an exported span is verified without servers: every decision is as recorded', async () => {
  const { code, out, err } = await vigil('replay', 'verify', '--file', incident);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^94 observations folded again; \d+ decisions about 3 agents are as recorded\.\n$/);
});

test('a decision that differs ends with 1, with the first difference of the agent and its cause', async () => {
  const forged = file(
    'forged.ndjson.gz',
    lines.map((line) => (line.includes('"hangs"') ? line.replace('"to":"STUCK"', '"to":"FAILING"') : line)),
  );
  const { code, out } = await vigil('replay', 'verify', '--file', forged);
  expect(code).toBe(1);
  expect(out).toMatch(/^1 of 3 agents is judged differently now\. /);
  expect(out).toContain('\nhangs\n  reason    payload.to: "FAILING" is recorded, "STUCK" is decided now\n');
  expect(out).toMatch(/\n {2}recorded {2}.*hangs .*→ FAILING.*\n {2}now {7}.*hangs .*→ STUCK/);
  expect(out).toMatch(/\n {2}cause {5}onex\.evt\.heartbeat-ingest\.agent-observation\.v1\/[01]\/\d+\n$/);
  const json = JSON.parse((await vigil('replay', 'verify', '--json', '--file', forged)).out);
  expect(json).toMatchObject({ same: false, agents: 3, differences: [{ agent: 'hangs' }] });
});

test('under another policy the outcomes are shown side by side up to the first different act', async () => {
  const { code, out, err } = await vigil('replay', 'what-if', '--policy', 'vigil', '--file', incident);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^94 observations of 3 agents folded under the recorded policies and under vigil\.\n/);
  expect(out).toMatch(
    /\nhangs\n(.*\n)* {2}.* {2}recorded {2}.* → STUCK: .*\n {2}.* {2}recorded {2}the plan for .* begins: nudge, /,
  );
  expect(out).toContain('The comparison ends here.');
  const json = JSON.parse(
    (await vigil('replay', 'what-if', '--policy', 'vigil', '--json', '--file', incident, '--agent', 'hangs')).out,
  );
  expect(json).toMatchObject({ policy: { name: 'vigil' }, agents: 1, otherwise: { stuck: 0, plans: 0 } });
  const unknown = await vigil('replay', 'what-if', '--policy', 'vigil', '--instead-of', 'dem', '--file', incident);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('no recorded policy is called dem') });
});

test('a file that is not an exported span ends with 2 and the remedy', async () => {
  const { code, out, err } = await vigil('replay', 'verify', '--file', file('runs.gz', ['{"run_id":"a"}']));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('has no vigil_replay; write one with `vigil replay export`');
  const missing = await vigil('replay', 'verify', '--file', path.join(dir, 'none.gz'));
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining('ENOENT') });
});

test('without a file the log is needed, and a span ends after it begins', async () => {
  const { code, err } = await vigil('replay', 'verify');
  expect(code).toBe(2);
  expect(err).toContain('KAFKA_BROKERS is not set');
  const turned = await vigil('replay', 'verify', '--from', '1h', '--to', '2h');
  expect(turned).toMatchObject({ code: 2, err: expect.stringContaining('exchange them') });
});

test('an export overwrites no file, and leaves none if the log cannot be read', async () => {
  const before = statSync(incident).size;
  const existing = await vigil('replay', 'export', '--out', incident);
  expect(existing).toMatchObject({ code: 2, err: expect.stringContaining('exists, and is not overwritten') });
  expect(statSync(incident).size).toBe(before);
  const fresh = path.join(dir, 'fresh.gz');
  expect(await vigil('replay', 'export', '--out', fresh)).toMatchObject({ code: 2 });
  expect(() => statSync(fresh)).toThrow('ENOENT');
});
