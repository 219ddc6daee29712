import { type ChildProcess, spawn as start } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Heartbeat } from '@vigil/events';
import { pause } from '../clock.ts';
import type { Report } from '../orders/order.ts';
import { isAlive, signalled } from '../process/proc.ts';
import { connectPtyHost } from '../pty-host/hosted-terminal.ts';
import { ptyHostSocket } from '../pty-host/start.ts';
import { type Occupant, occupantOf } from '../state/lock.ts';
import { type Stage, setStage } from './stage.ts';

const fixture = fileURLToPath(new URL('./runtime.fixture.ts', import.meta.url));

type HostedOccupant = Occupant & Record<'child' | 'ptyHost', NonNullable<Occupant['child']>>;

/** Polls until the check passes; fails with its last error. */
export const until = async <T>(look: () => T, withinMs = 60_000): Promise<T> => {
  for (const end = Date.now() + withinMs; ; await pause(20)) {
    try {
      return look();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
};

const assert = (condition: boolean, what: string): void => {
  if (!condition) throw new Error(what);
};

export const killed = async (runtime: ChildProcess): Promise<void> => {
  runtime.kill('SIGKILL');
  await once(runtime, 'exit');
};

/** A stage on which whole runtimes, each with the agent `worker-1`, are started and killed. */
export class OrphanStage {
  readonly stage: Stage;
  readonly #runtimes: ChildProcess[] = [];
  logged = '';

  constructor(stage: Stage) {
    this.stage = stage;
  }

  static async open(): Promise<OrphanStage> {
    return new OrphanStage(await setStage('test'));
  }

  /** `as`: the program that takes the script behind -c, and what follows the script */
  launch(script: string, as: readonly string[] = []): ChildProcess {
    const { dir, gateway } = this.stage;
    const runtime = start(process.execPath, [fixture, dir, gateway.url, script, ...as], { cwd: dir });
    this.#runtimes.push(runtime);
    runtime.stderr?.on('data', (data) => {
      this.logged += data;
    });
    return runtime;
  }

  /** Resolves when its agent runs. */
  async runs(script: string, as: readonly string[] = []): Promise<ChildProcess> {
    const runtime = this.launch(script, as);
    await once(runtime.stdout as NonNullable<typeof runtime.stdout>, 'data');
    return runtime;
  }

  get held(): HostedOccupant {
    const found = occupantOf(this.stage.dir, 'worker-1');
    assert(found?.child != null && found.ptyHost !== null, 'it is not held');
    return found as HostedOccupant;
  }

  reported<T extends Report['type']>(type: T) {
    return this.stage.gateway.reports.flatMap((report) =>
      report.type === type ? [report.payload as Extract<Report, { type: T }>['payload']] : [],
    );
  }

  get heartbeats(): readonly Heartbeat[] {
    return this.stage.gateway.heartbeats;
  }
  get last(): Heartbeat | undefined {
    return this.heartbeats.at(-1);
  }

  async keepsReporting(): Promise<void> {
    const seen = this.heartbeats.length;
    await until(() => assert(this.heartbeats.length > seen + 1, 'it does not send heartbeats'));
  }

  printed(lines: number): Promise<void> {
    return until(() => assert(this.last?.output?.lines === lines, `it has not printed ${lines} lines`));
  }

  touch(name: string): void {
    start('touch', [join(this.stage.dir, name)]);
  }
  wrote(text: string): Promise<void> {
    const file = join(this.stage.dir, 'received');
    return until(() => assert(readFileSync(file, 'utf8').includes(text), `it did not receive ${text}`));
  }

  /** When the PTY host reports the end of its agent to viewers. */
  async endSeenBy(instanceId: string): Promise<number> {
    const hello = { kind: 'viewer', who: 'the test', writes: false, last: 0 } as const;
    const link = await connectPtyHost(ptyHostSocket(this.stage.dir, instanceId), hello);
    return new Promise((resolve) => link.listen((message) => 'ended' in message && resolve(message.ended.at)));
  }

  async close(): Promise<void> {
    const left = occupantOf(this.stage.dir, 'worker-1');
    for (const runtime of this.#runtimes) if (runtime.exitCode === null) runtime.kill('SIGKILL');
    for (const pid of [left?.child, left?.ptyHost]) if (pid && isAlive(pid)) signalled(-pid.pid, 'SIGKILL');
    await this.stage.close();
  }
}
