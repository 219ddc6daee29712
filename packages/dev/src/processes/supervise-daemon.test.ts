import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Daemon, killDaemon, startDaemon } from './daemon.ts';
import { endProcess, livingNames, livingPid } from './pid-file.ts';
import { deathsAfter, pauseBefore, type RunningDaemon, superviseDaemon } from './supervise-daemon.ts';

let dir: string;
let lines: string[];
let running: RunningDaemon | undefined;
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'vigil-supervise-daemon-'));
  lines = [];
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  for (const name of livingNames(dir)) await endProcess(dir, name, 'SIGKILL');
  rmSync(dir, { recursive: true });
});

const SERVES = 'console.log("ready"); setInterval(() => {}, 1000)';
/** Serves at its first start, and ends at once at any other. */
const SERVES_ONCE = `
  if (require('node:fs').existsSync('started')) { console.error('no space left'); process.exit(7); }
  require('node:fs').writeFileSync('started', '');
  ${SERVES}`;

const daemonOf = (script: string): Daemon => ({
  name: 'server',
  dir,
  command: process.execPath,
  args: ['-e', script],
  cwd: dir,
  stopWith: 'SIGTERM',
  isReady: (written) => written.includes('ready'),
});
const run = async (script: string): Promise<Daemon> => {
  const daemon = daemonOf(script);
  running = await superviseDaemon((line) => lines.push(line))(daemon, () => startDaemon(daemon));
  return daemon;
};
const until = (look: () => void) => vi.waitFor(look, { timeout: 60_000, interval: 20 });

describe('a supervised server', () => {
  it('that is killed is started again in place, and the output has how it ended and the attempt', async () => {
    const daemon = await run(SERVES);
    const first = livingPid(dir, 'server');
    await killDaemon(daemon, 'SIGKILL');
    await until(() => expect(lines).toHaveLength(2));
    expect(lines).toEqual(['server ended with SIGKILL; started again in 0.5 s (attempt 1)', 'server serves again']);
    expect(livingPid(dir, 'server')).not.toBeNull();
    expect(livingPid(dir, 'server')).not.toBe(first);
  });

  it('that ends by itself is reported with its exit code', async () => {
    await run('console.log("ready"); setTimeout(() => process.exit(3), 50)');
    await until(() => expect(lines[0]).toBe('server ended with exit code 3; started again in 0.5 s (attempt 1)'));
  });

  it('that ends three times at once is reported with the end of its log, and is tried again', async () => {
    const daemon = await run(SERVES_ONCE);
    await killDaemon(daemon, 'SIGKILL');
    await until(() => expect(lines).toHaveLength(4));
    expect(lines.slice(0, 2)).toEqual([
      'server ended with SIGKILL; started again in 0.5 s (attempt 1)',
      'server ended while it started (exit code 7); started again in 1 s (attempt 2)',
    ]);
    expect(lines[2]).toMatch(
      /^server ended while it started \(exit code 7\); started again in 2 s \(attempt 3\)\. It has ended 3 times in a row; .*server\.log ends with:\n/,
    );
    expect(lines[2]).toMatch(/no space left$/);
    expect(lines[3]).toContain('started again in 4 s (attempt 4)');
  });

  it('that is stopped is not started again, frozen or not', async () => {
    const daemon = await run(SERVES);
    await killDaemon(daemon, 'SIGSTOP');
    await running?.stop();
    expect(lines).toEqual([]);
    expect(livingPid(dir, 'server')).toBeNull();
  });

  it('that is stopped before its next start is not started', async () => {
    const daemon = await run(SERVES);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const pid = livingPid(dir, 'server') as number;
      process.kill(pid, 'SIGKILL');
      while (lines.length === 0) await new Promise(setImmediate);
      expect(vi.getTimerCount()).toBe(1);
      await running?.stop();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    expect(livingPid(daemon.dir, daemon.name)).toBeNull();
  });

  it('that is stopped while it starts does not stay', async () => {
    const daemon = await run(`
      const isFirst = !require('node:fs').existsSync('started');
      require('node:fs').writeFileSync('started', '');
      if (isFirst) console.log('ready');
      setInterval(() => {}, 1000)`);
    await killDaemon(daemon, 'SIGKILL');
    await until(() => expect(livingPid(dir, 'server')).not.toBeNull());
    await running?.stop();
    expect(livingPid(dir, 'server')).toBeNull();
    expect(lines).toHaveLength(1);
  });

  it('whose first start fails is refused, and not tried again', async () => {
    await expect(run('console.error("no such port"); process.exit(1)')).rejects.toThrow(
      /ended while it started \(exit code 1\).*no such port$/s,
    );
    expect([livingNames(dir), lines]).toEqual([[], []]);
  });
});

it('the pauses before the next start grow from half a second to a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 20].map(pauseBefore)).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
  ]);
});

it('a run of thirty seconds starts the count again, a shorter one does not', () => {
  expect(deathsAfter(4, 30_000)).toBe(1);
  expect(deathsAfter(4, 29_999)).toBe(5);
});
