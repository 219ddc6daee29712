import type { CommandLine } from '@vigil/adapters/adapter';
import type { ClientControl } from '../orders/client-control.ts';
import { ifKnown, type Pid } from '../process/proc.ts';

/** A process, and the arguments of its command line. */
export type RunningProgram = { readonly pid: Pid; readonly words: readonly string[] };

/** The processes of a terminal. All of it @throws ProcessesUnknown */
export type RunningPrograms = {
  readonly programs: () => readonly RunningProgram[];
  readonly isAlive: (pid: Pid) => boolean;
};

type Clients = readonly Pick<ClientControl, 'name' | 'invocation'>[];

/** A script follows its interpreter. */
const linesIn = ([first, second, ...rest]: readonly string[]): readonly CommandLine[] => [
  ...(first === undefined ? [] : [{ command: first, args: second === undefined ? [] : [second, ...rest] }]),
  ...(second === undefined ? [] : [{ command: second, args: rest }]),
];

/** Whether a client that has reported a session still runs. One that was killed reports no end. */
export class ClientProcess {
  readonly #clients: Clients;
  readonly #running: RunningPrograms;
  #seen: { readonly client: string; readonly pid: Pid } | null = null;

  constructor(clients: Clients, running: RunningPrograms) {
    this.#clients = clients;
    this.#running = running;
  }

  /** True, once: a process of this client was seen, and none is left. */
  isGone(client: string): boolean {
    return ifKnown(() => this.#look(client), false);
  }

  #look(client: string): boolean {
    const before = this.#seen?.client === client ? this.#seen : null;
    if (before !== null && this.#running.isAlive(before.pid)) return false;
    const pid = this.#find(client);
    this.#seen = pid === null ? null : { client, pid };
    return pid === null && before !== null;
  }

  #find(name: string): Pid | null {
    const client = this.#clients.find((one) => one.name === name);
    const starts = ({ words }: RunningProgram) => linesIn(words).some((line) => client?.invocation(line) != null);
    return this.#running.programs().find(starts)?.pid ?? null;
  }
}
