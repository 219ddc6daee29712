import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify, isAlive, type Pid, signalled } from '../process/proc.ts';
import { connectPtyHost, type Link } from '../pty-host/hosted-terminal.ts';
import type { FromPtyHost } from '../pty-host/protocol.ts';
import { ptyHostSocket, startPtyHost } from '../pty-host/start.ts';

const self = identify(process.pid);

/** A connection, and the messages that it has received. */
export type Seen = { readonly link: Link; text: string; readonly others: FromPtyHost[] };

/** One PTY host in a folder of its own, with a shell script as its agent. */
export class PtyHostStage {
  readonly #links: Link[] = [];
  readonly #made: string;
  dir: string;
  #ptyHost: Pid | null = null;

  constructor() {
    this.dir = mkdtempSync(join(tmpdir(), 'vigil-pty-host-'));
    this.#made = this.dir;
  }

  get path(): string {
    return ptyHostSocket(this.dir, 'instance-1');
  }
  get isThere(): boolean {
    return this.#ptyHost !== null && isAlive(this.#ptyHost);
  }

  pauseControl(script: string, ring = 1 << 20): Promise<void> {
    const { dir, path: socket } = this;
    const launch = { agentId: 'worker-1', instanceId: 'instance-1', cwd: dir, env: { PATH: process.env.PATH ?? '' } };
    const size = { columns: 80, rows: 24 };
    const command = {
      command: '/bin/sh',
      args: ['-c', script],
      prints: 'terminal' as const,
      cgroup: null,
      user: null,
      size,
    };
    return startPtyHost(dir, { ...launch, ...command, socket, ring, kept: { a: 1 } }, (pid) => {
      this.#ptyHost = pid;
    });
  }

  #listening(link: Link): Seen {
    this.#links.push(link);
    const seen: Seen = { link, text: '', others: [] };
    link.listen((message) => {
      if ('output' in message) seen.text += Buffer.from(message.output, 'base64');
      else seen.others.push(message);
    });
    return seen;
  }

  async supervise(): Promise<Seen> {
    return this.#listening(await connectPtyHost(this.path, { kind: 'supervisor', self }));
  }
  async look(writes = false, last = 1 << 20): Promise<Seen> {
    return this.#listening(await connectPtyHost(this.path, { kind: 'viewer', who: 'ann', writes, last }));
  }

  close(): void {
    for (const link of this.#links.splice(0)) link.close();
    if (this.#ptyHost && this.isThere) signalled(this.#ptyHost.pid, 'SIGKILL');
    rmSync(this.#made, { recursive: true, force: true });
  }
}

/** Keys, as they are sent. */
export const keys = (text: string): string => Buffer.from(text).toString('base64');
