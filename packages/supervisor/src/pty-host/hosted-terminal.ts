import { type MachineClock, pause } from '../clock.ts';
import { endProcess } from '../process/end-process.ts';
import { ifKnown, isAlive, signalled, type Tree } from '../process/proc.ts';
import type { Exit, StartedNext, Terminal } from '../terminal/terminal.ts';
import type { Link } from './link.ts';
import type { FromPtyHost, ViewerAction } from './protocol.ts';
import type { Chunk } from './ring.ts';

export type HostedTerminalEvents = {
  readonly output: (chunk: Chunk) => void;
  readonly action: (action: ViewerAction) => void;
};

const unknownEnd: Exit = { code: null, signal: null };

/**
 * Its terminal is gone: it has received SIGHUP, and a process that survives that can be neither watched nor reached.
 */
type Patience = { readonly killAfterMs: number; readonly clock: MachineClock };

const endWithoutPtyHost = async (
  { ptyHost }: Link['hosted'],
  tree: Tree,
  { killAfterMs, clock }: Patience,
): Promise<void> => {
  if (ifKnown(() => isAlive(ptyHost), false)) signalled(ptyHost.pid, 'SIGKILL');
  await endProcess(tree, { graceMs: 0, killAfterMs }, clock);
};

/** The agent's end as its PTY host saw it (`socket`: its VIGIL_SOCKET). Where the PTY host died first, the agent is ended, with an unknown result. */
export const hostedTerminal = (
  link: Link,
  socket: string,
  on: HostedTerminalEvents,
  { killAfterMs, clock }: Patience,
): Terminal => {
  let { child, started } = link.hosted;
  const waiting = new Map<string, (started: StartedNext) => void>();
  const hasStarted = (next: StartedNext): void => {
    started = next;
    child = next.pid;
    waiting.get(next.id)?.(next);
    waiting.delete(next.id);
  };
  let endedAt: number | null = null;
  const exited = new Promise<Exit>((resolve) => {
    const receive = (message: FromPtyHost): void => {
      if ('output' in message) on.output({ ...message, data: Buffer.from(message.output, 'base64') });
      else if ('action' in message) on.action(message.action);
      else if ('started' in message) hasStarted(message.started);
      else if ('ended' in message) {
        const { code, signal, at } = message.ended;
        endedAt = at;
        resolve({ code, signal });
      }
    };
    link.listen(receive);
    void link.closed.then(async () => {
      if (endedAt !== null || link.isLeft()) return;
      await endWithoutPtyHost(link.hosted, { leader: child, socket }, { killAfterMs, clock });
      resolve(unknownEnd);
    });
  });
  return {
    get pid() {
      return child;
    },
    exited,
    prepareNext: (next) => link.send({ next }),
    startNext: (id) =>
      started?.id === id
        ? Promise.resolve(started)
        : new Promise<StartedNext>((resolve) => {
            waiting.set(id, resolve);
            link.send({ startNext: id });
          }),
    dropNext: () => link.send({ dropNext: true }),
    startedNext: () => started,
    endedAt: () => endedAt,
    write: (data) => link.send({ input: Buffer.from(data as string).toString('base64') }),
    resize: (columns, rows) => link.send({ resize: { columns: Math.max(1, columns), rows: Math.max(1, rows) } }),
    pause: link.pause,
    resume: link.resume,
    signal: (signal) => void signalled(-child.pid, signal),
    note: (note) => link.send({ note }),
    close: async () => {
      link.send({ bye: true });
      await Promise.race([link.closed, pause(2000)]);
    },
  };
};
