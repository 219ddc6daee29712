import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endProcess, livingPid } from '../processes/pid-file.ts';
import { superviseDaemon } from '../processes/supervise-daemon.ts';
import { stopNodes } from './kafka/cluster.ts';
import { startNodes } from './kafka/nodes.ts';
import { endLeftServers, startLocal } from './local.ts';
import { freePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';

let dir: string;
let lines: string[];
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'vigil-supervised-'));
  lines = [];
});
afterEach(async () => {
  await endLeftServers(dir);
  rmSync(dir, { recursive: true });
});

const report = (line: string) => void lines.push(line);
const again = (name: string, limitMs: number) =>
  vi.waitFor(() => expect(lines).toContain(`${name} serves again`), { timeout: limitMs, interval: 100 });

it('a killed Postgres serves again by itself, with its data, and not once it is stopped', async () => {
  const [port = 0] = await freePorts(1);
  const postgres = await startPostgres({ dir, port, run: superviseDaemon(report) });
  await endProcess(dir, 'postgres', 'SIGKILL');
  await again('postgres', 60_000);
  expect(lines[0]).toBe('postgres ended with SIGKILL; started again in 0.5 s (attempt 1)');
  await postgres.stop();
  expect(livingPid(dir, 'postgres')).toBeNull();
  expect(lines.filter((line) => line.includes('ended with'))).toHaveLength(1);
}, 120_000);

it('a killed broker serves again by itself, and not once it is stopped', async () => {
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const lone = { kind: 'process', dir, name: 'kafka', port, controllerPort, isSecured: false } as const;
  const brokers = await startNodes([lone], superviseDaemon(report), () => undefined);
  await brokers[0]?.kill('SIGKILL');
  await again('kafka', 60_000);
  expect(lines).toEqual(['kafka ended with SIGKILL; started again in 0.5 s (attempt 1)', 'kafka serves again']);
  await stopNodes(brokers);
  expect(livingPid(dir, 'kafka')).toBeNull();
  expect(lines).toHaveLength(2);
}, 120_000);

describe.runIf(process.env.VIGIL_SOAK !== undefined)('the long form', () => {
  it('each killed server of npm start serves again by itself, and a stop starts none again', async () => {
    const [kafka = 0, controller = 0, registry = 0, postgres = 0] = await freePorts(4);
    const ports = { kafka, controller, registry, postgres };
    const own = { dir, ports, form: 'one', env: process.env, sharedRegistry: null } as const;
    const servers = await startLocal({ ...own, run: superviseDaemon(report), report });
    for (const name of ['registry', 'postgres', 'kafka']) {
      await endProcess(dir, name, 'SIGKILL');
      await again(name, 180_000);
    }
    const before = lines.length;
    await servers.stop();
    expect(lines.slice(before)).toEqual([]);
    expect(['registry', 'postgres', 'kafka'].map((name) => livingPid(dir, name))).toEqual([null, null, null]);
  }, 900_000);
});
