import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleOf } from '@vigil/dev';
import type { Heartbeat } from '@vigil/events';
import { RUNS } from './support/ground.ts';
import { print, quantile, report } from './support/report.ts';

/**
 * Measures how long the report of a call's end takes: from the start of its hook to the arrival of its heartbeat at the
 * gateway. The agent runs under `vigil run` with an interval of 30 s. Also measures the duration of the hook itself.
 */
const CALLS = 30;
const PAUSE_MS = 500;
const vigil = path.resolve(import.meta.dirname, '../../packages/dev/bootstrap/vigil.mjs');
const main = bundleOf('vigil');

type Ended = { readonly id: string; readonly from: number; readonly until: number };

/** A client that makes one call after the other, and records when it runs the hook that reports an end. */
const client = async (notes: string): Promise<void> => {
  const hook = (event: string, more: object): void => {
    const input = JSON.stringify({ session_id: 's-1', hook_event_name: event, tool_name: 'Bash', ...more });
    spawnSync(process.execPath, [vigil, 'hook', '--client', 'claude-code'], { input });
  };
  hook('UserPromptSubmit', {});
  for (let n = 0; n <= CALLS; n += 1) {
    const call = { tool_use_id: `call-${n}`, tool_input: { command: `step ${n}` } };
    hook('PreToolUse', call);
    await sleep(PAUSE_MS);
    const from = Date.now();
    hook('PostToolUse', { ...call, tool_response: { stdout: `${n}` } });
    const ended: Ended = { id: `call-${n}`, from, until: Date.now() };
    appendFileSync(notes, `${JSON.stringify(ended)}\n`);
    await sleep(PAUSE_MS);
  }
};

const bodyOf = async (request: IncomingMessage): Promise<readonly Heartbeat[]> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = JSON.parse(Buffer.concat(parts).toString() || 'null') as Heartbeat | readonly Heartbeat[];
  return Array.isArray(body) ? body : [body as Heartbeat];
};

/** The first report of each call's end, epoch milliseconds. */
const arrivals = new Map<string, number>();
const gateway = createServer(async (request, response) => {
  const isHeartbeat = request.url === '/v1/heartbeats';
  const at = Date.now();
  for (const heartbeat of isHeartbeat ? await bodyOf(request) : [])
    for (const { call_id, ended_at } of heartbeat.tool_calls)
      if (ended_at !== null && !arrivals.has(call_id)) arrivals.set(call_id, at);
  const answer = {
    accepted: 1,
    orders: [],
    policy: null,
    intervalMs: 30_000,
    refusal: null,
    warnings: [],
    waitedMs: 0,
  };
  response.writeHead(isHeartbeat ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});

type Times = { readonly reported: readonly number[]; readonly hook: readonly number[] };

const measured = async (url: string): Promise<Times> => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-bench-'));
  const notes = path.join(dir, 'notes.jsonl');
  arrivals.clear();
  const env = {
    ...process.env,
    VIGIL_STATE_DIR: dir,
    VIGIL_GATEWAY_URL: url,
    VIGIL_GATEWAY_TOKEN: 'a-token-of-a-benchmark',
  };
  const run = ['run', '--name', 'bench', '--interval', '30s', '--no-tty', '--', process.execPath];
  const child = spawn(process.execPath, [main, ...run, import.meta.filename, 'client', notes], {
    env,
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.once('exit', resolve));
  const ends = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .map((line): Ended => JSON.parse(line))
    .slice(1);
  rmSync(dir, { recursive: true, force: true });
  return {
    reported: ends.map(({ id, from }) => (arrivals.get(id) ?? Number.POSITIVE_INFINITY) - from),
    hook: ends.map(({ from, until }) => until - from),
  };
};

const bench = async (): Promise<void> => {
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const runs: Times[] = [];
  for (let run = 1; run <= RUNS; run += 1) {
    runs.push(await measured(url));
    print(`run ${run} of ${RUNS}`);
  }
  gateway.close();
  const each = (of: keyof Times, q: number): readonly number[] => runs.map((times) => quantile(times[of], q));
  report(
    'call-end',
    [50, 99].map((percent) => ({
      name: `from the end of a call to its report: p${percent}`,
      unit: 'ms',
      runs: each('reported', percent / 100),
      reference: { name: 'the hook', runs: each('hook', percent / 100) },
    })),
  );
};

const [, , mode, notes] = process.argv;
await (mode === 'client' && notes !== undefined ? client(notes) : bench());
