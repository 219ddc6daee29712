import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES } from '@vigil/dev';
import { type Heartbeat, Topic } from '@vigil/events';
import { type Notification, openNtfy, subscribe } from '../support/ntfy.ts';
import { openSystem } from '../support/system.ts';
import { watchCpu } from './support/cpu.ts';
import { processes, RUNS } from './support/ground.ts';
import { recordOf, working } from './support/heartbeats.ts';
import { type Figure, print, quantile, report } from './support/report.ts';

/**
 * Measures a permission request of Claude Code. The first time is from the start of its hook until the phone has the
 * notification. The second is from the press of a button until the hook has printed the answer and ended. The phone is a
 * subscriber of ntfy. One record through Kafka is measured too, from its write until a reader has it.
 */
const REQUESTS = 100;
const WARM = 10;
const SHOWN_EVERY = 10;
const TOPIC = 'phone';
const LIMIT_MS = 30_000;
const LOOK_MS = 5;
const vigil = path.resolve(import.meta.dirname, '../../packages/dev/bootstrap/vigil.mjs');

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-bench-'));
const ntfy = await openNtfy();
const channels = path.join(dir, 'alerts.yaml');
const phone = `{ kind: ntfy, url: '${ntfy.url}', topic: ${TOPIC}, token_env: NTFY_TOKEN }`;
writeFileSync(channels, `default: [phone]\nchannels:\n  phone: ${phone}\n`);
const test = await openSystem({
  name: 'bench-answers',
  policy: 'vigil',
  env: { VIGIL_ALERTS_FILE: channels, NTFY_TOKEN: ntfy.token },
});
const { log, servers, system } = test;
const partitions = await log.partitionCount(Topic.heartbeat);
const stopping = new AbortController();

/** Resolves with what arrives under a name, and when. */
const arrivals = <Value>() => {
  const awaited = new Map<string, (value: Value) => void>();
  return {
    next: (name: string): Promise<Value> =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${name} has not arrived in ${LIMIT_MS / 1000} s`)), LIMIT_MS);
        awaited.set(name, (value) => {
          clearTimeout(late);
          resolve(value);
        });
      }),
    arrived: (name: string, value: Value): void => {
      awaited.get(name)?.(value);
      awaited.delete(name);
    },
  };
};

type Arrived = { readonly at: number; readonly notification: Notification };
const notifications = arrivals<Arrived>();
await subscribe(
  ntfy,
  TOPIC,
  (notification) => {
    const [agent] = notification.title.split(' ');
    if (notification.actions !== undefined) notifications.arrived(agent ?? '', { at: performance.now(), notification });
  },
  stopping.signal,
);

const records = arrivals<number>();
await log.follow(
  [Topic.heartbeat],
  'end',
  ({ key, value }) => {
    if (value === null || !key?.startsWith('probe')) return;
    records.arrived((log.codec.decode(Topic.heartbeat, value).payload as Heartbeat).agent_id, performance.now());
  },
  stopping.signal,
);

/** Milliseconds from the write of one record until a reader has it. */
const throughKafka = async (n: number): Promise<number> => {
  const read = records.next(`probe-${n}`);
  const since = performance.now();
  await log.write([recordOf(log, partitions, working(`probe-${n}`, 1, Date.now()))]);
  return (await read) - since;
};

type Hook = { readonly since: number; readonly ended: Promise<{ readonly at: number; readonly output: string }> };

const startHook = (agent: string): Hook => {
  const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = system.env;
  const env = {
    ...{ PATH: process.env.PATH ?? '', VIGIL_STATE_DIR: path.join(dir, agent), VIGIL_AGENT: agent },
    ...{ VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN, CLAUDE_CODE_ENTRYPOINT: 'cli' },
  };
  mkdirSync(env.VIGIL_STATE_DIR, { recursive: true });
  const tool = { tool_name: 'Bash', tool_input: { command: 'npm publish' } };
  const since = performance.now();
  const child = spawn(process.execPath, [vigil, 'hook', '--client', 'claude-code'], { env });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stdin.end(JSON.stringify({ session_id: `${agent}-session`, hook_event_name: 'PermissionRequest', ...tool }));
  const ended = new Promise<{ at: number; output: string }>((resolve) => {
    child.on('close', () => resolve({ at: performance.now(), output }));
  });
  return { since, ended };
};

/** The button of a person takes effect when the dashboard has the request: it refuses a link of an unknown one. */
const untilKnown = async (url: string): Promise<void> => {
  for (const end = performance.now() + LIMIT_MS; !(await fetch(url)).ok; await sleep(LOOK_MS))
    if (performance.now() > end) throw new Error('the dashboard does not know the request');
};

type Times = {
  readonly toPhone: number;
  readonly known: number;
  readonly toAgent: number;
  readonly kafka: number;
};

const measured = async (n: number): Promise<Times> => {
  const kafka = await throughKafka(n);
  const agent = `worker-${n}`;
  const arriving = notifications.next(agent);
  const hook = startHook(agent);
  const { at, notification } = await arriving;
  const allow = notification.actions?.find(({ label }) => label === 'Allow');
  if (allow === undefined) throw new Error(`the notification has no button Allow: ${JSON.stringify(notification)}`);
  await untilKnown(allow.url);
  const knownAt = performance.now();
  const { method, headers, body } = allow;
  const pressed = await fetch(allow.url, { method, headers, body });
  if (!pressed.ok) throw new Error(`the button was answered ${pressed.status}: ${await pressed.text()}`);
  const ended = await hook.ended;
  const { hookSpecificOutput } = JSON.parse(ended.output) as {
    hookSpecificOutput: { decision: { behavior: string } };
  };
  if (hookSpecificOutput.decision.behavior !== 'allow') throw new Error(`the hook printed ${ended.output}`);
  return { toPhone: at - hook.since, known: knownAt - hook.since, toAgent: ended.at - knownAt, kafka };
};

const shownOf = (times: readonly Times[]): string => {
  const shown = (of: keyof Times): string =>
    [0.5, 0.99]
      .map((q) =>
        Math.round(
          quantile(
            times.map((one) => one[of]),
            q,
          ),
        ),
      )
      .join(' / ');
  return `ask to phone ${shown('toPhone')}, to a known request ${shown('known')}, answer to agent ${shown('toAgent')}, one record through Kafka ${shown('kafka')}`;
};

let asked = 0;
for (let n = 0; n < WARM; n += 1) await measured(asked++);
const runs: (readonly Times[])[] = [];
const cpu = new Map<string, number[]>();
for (let run = 1; run <= RUNS; run += 1) {
  const spent = watchCpu(new Map([...processes(servers, system, SERVICES), ['hooks and phone', process.pid]]));
  const times: Times[] = [];
  for (let n = 1; n <= REQUESTS; n += 1) {
    times.push(await measured(asked++));
    if (n % SHOWN_EVERY === 0) print(`run ${run} of ${RUNS}, ${n} requests, p50 / p99 in ms: ${shownOf(times)}`);
  }
  for (const [name, share] of spent()) cpu.set(name, [...(cpu.get(name) ?? []), share]);
  runs.push(times);
}
stopping.abort();
await test.stop();
await ntfy[Symbol.asyncDispose]();
rmSync(dir, { recursive: true, force: true });

const each = (of: keyof Times, q: number): readonly number[] =>
  runs.map((times) =>
    quantile(
      times.map((one) => one[of]),
      q,
    ),
  );
const figures = ([0.5, 0.99] as const).flatMap((q): readonly Figure[] => {
  const reference = { name: 'one record through Kafka', runs: each('kafka', q) };
  const server = process.env.VIGIL_NTFY === undefined ? 'a server of its protocol' : 'ntfy';
  return [
    { name: `ask to phone (${server}): p${100 * q}`, unit: 'ms', runs: each('toPhone', q), reference },
    { name: `ask to a known request: p${100 * q}`, unit: 'ms', runs: each('known', q), reference },
    { name: `answer to agent: p${100 * q}`, unit: 'ms', runs: each('toAgent', q), reference },
  ];
});
const shares = [...cpu].map(([name, all]): Figure => ({ name, unit: '% of a core', runs: all }));
report('answers', [...figures, ...shares]);
