import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { identify, isAlive, type Pid } from '../process/proc.ts';
import type { Size, Terminal } from '../terminal/terminal.ts';
import {
  type Ended,
  eachMessage,
  type Hello,
  type HostedAgent,
  isPtyHostAction,
  type Launch,
  type PtyHostAction,
  type ToPtyHost,
  type Viewer,
  writeMessage,
} from './protocol.ts';
import { Ring } from './ring.ts';

type Client = {
  readonly socket: Socket;
  /** null: it is the supervisor */
  readonly viewer: Viewer | null;
  /** the byte of output that it is sent next */
  next: number;
  ended: boolean;
};

/** Bytes that wait for a client; the rest stays in the ring until it has read them. */
const MOST_UNREAD = 1 << 18;
/** How often an agent that waits is looked after, milliseconds: its terminal is closed 200 ms after its end. */
const LOOK_EVERY_MS = 50;
/** How often one that only keeps an end looks whether it can be reached, milliseconds. */
const REACHABLE_EVERY_MS = 2000;

/** Terminals at once that only look on: they must not keep a person from ending an agent. */
const MAX_VIEWERS = 16;

type PtyHostStatus = { readonly agentId: string; readonly supervisor: Pid | null; readonly viewers: number };

/** Why this client is refused, and what to do about it; null: it is accepted. */
const refusalOf = (hello: Hello, { agentId, supervisor, viewers }: PtyHostStatus): string | null => {
  if (hello.kind === 'supervisor')
    return supervisor === null
      ? null
      : `it is supervised by process ${supervisor.pid} already: end that one first, or leave the agent to it`;
  if (hello.writes)
    return supervisor === null
      ? `no supervisor is running, and only a supervisor can do that: start its runtime again; where it was run by hand: vigil run --detach --name ${agentId}`
      : null;
  return viewers < MAX_VIEWERS ? null : `${viewers} terminals are attached to it already: detach one of them`;
};

/** Holds an agent's terminal for its supervisor, and shows it to viewers. Judges nothing. */
export class PtyHost {
  readonly #launch: Launch;
  readonly #ring: Ring;
  readonly #self: Pid;
  readonly #onBye: () => void;
  readonly #clients = new Set<Client>();
  #supervisor: { readonly client: Client; readonly self: Pid } | null = null;
  #terminal: Terminal | null = null;
  #note: unknown = null;
  #ended: Ended | null = null;
  #size: Size;
  #waiting: NodeJS.Timeout | null = null;

  constructor(launch: Launch, self: Pid, onBye: () => void) {
    this.#launch = launch;
    this.#ring = new Ring(launch.ring);
    this.#self = self;
    this.#size = launch.size;
    this.#onBye = onBye;
  }

  setTerminal(terminal: Terminal): void {
    this.#terminal = terminal;
  }

  output(data: Buffer, at: number): void {
    this.#ring.push(data, at);
    for (const client of this.#clients) this.#send(client);
    this.#throttle();
  }

  ended(how: Ended): void {
    this.#ended = how;
    for (const client of this.#clients) this.#send(client);
    // without its folder no client can reach it any more
    setInterval(() => existsSync(this.#launch.socket) || this.#leave(), REACHABLE_EVERY_MS);
  }

  connect(socket: Socket): void {
    let client: Client | null = null;
    socket.on('error', () => socket.destroy());
    // A client that leaves reads no more: its unread output would keep it here, and the agent waiting.
    socket.on('end', () => socket.destroy());
    socket.on('close', () => client && this.#gone(client));
    socket.on('drain', () => {
      if (client) this.#send(client);
      this.#throttle();
    });
    eachMessage<ToPtyHost>(socket, (message) => {
      if (client) this.#receive(client, message);
      else if ('hello' in message) client = this.#welcome(socket, message.hello);
      else socket.destroy();
    });
  }

  #refusal(hello: Hello): string | null {
    if (this.#terminal === null) return 'it is just being started: try again';
    const viewers = [...this.#clients].filter(({ viewer }) => viewer?.writes === false).length;
    return refusalOf(hello, { ...this.#launch, supervisor: this.#supervisor?.self ?? null, viewers });
  }

  #welcome(socket: Socket, hello: Hello): Client | null {
    const refused = this.#refusal(hello);
    if (refused !== null) {
      socket.end(`${JSON.stringify({ refused })}\n`);
      return null;
    }
    const last = hello.kind === 'supervisor' ? Number.POSITIVE_INFINITY : hello.last;
    const next = Math.max(this.#ring.first, this.#ring.next - last);
    const client: Client = { socket, viewer: hello.kind === 'viewer' ? hello : null, next, ended: false };
    writeMessage(socket, { hosted: this.#hosted(client) });
    if (hello.kind === 'supervisor') this.#supervisor = { client, self: hello.self };
    this.#clients.add(client);
    for (const { viewer } of client.viewer === null ? this.#clients : [client])
      if (viewer?.writes) this.#passOn(viewer, { kind: 'opens' });
    this.#send(client);
    this.#throttle();
    return client;
  }

  #hosted({ viewer, next: first }: Client): HostedAgent {
    const { agentId, instanceId, kept } = this.#launch;
    const size = this.#size;
    const child = this.#terminal?.pid ?? identify(0);
    const supervisor = this.#supervisor?.self ?? null;
    const started = this.#terminal?.startedNext() ?? null;
    const processes = { child, ptyHost: this.#self, started, supervisor };
    const whole = { agentId, instanceId, ...processes, first, next: this.#ring.next, size };
    return viewer ? { ...whole, kept: null, note: null } : { ...whole, kept, note: this.#note };
  }

  /** As much as it takes; the rest when it has read that. */
  #send(client: Client): void {
    const { socket, viewer } = client;
    if (!socket.writable) return; // it has received the reason why it is cut off, and reads that in its own time
    while (client.next < this.#ring.next && socket.writableLength < MOST_UNREAD) {
      const missed = this.#ring.first - client.next;
      if (missed > 0) writeMessage(socket, { missed });
      if (missed > 0 && viewer) return void socket.end();
      client.next = Math.max(client.next, this.#ring.first);
      const chunk = this.#ring.from(client.next);
      if (chunk === undefined) return;
      writeMessage(socket, { output: chunk.data.toString('base64'), from: chunk.from, at: chunk.at });
      client.next += chunk.data.length;
    }
    if (this.#ended === null || client.ended || client.next < this.#ring.next) return;
    client.ended = true;
    writeMessage(socket, { ended: this.#ended });
  }

  /** The agent waits for its supervisor, so that all its output is judged. It waits for no viewer, and not without a supervisor. */
  #throttle(): void {
    const lagging = this.#supervisor ? this.#ring.next - this.#supervisor.client.next : 0;
    const waits = lagging > this.#launch.ring / 2 && this.#terminal !== null && isAlive(this.#terminal.pid);
    if (waits === (this.#waiting !== null)) return;
    if (waits) this.#terminal?.pause();
    else this.#terminal?.resume();
    clearInterval(this.#waiting ?? undefined);
    // one that has ended is read to its end at once: its terminal is gone in a moment
    this.#waiting = waits ? setInterval(() => this.#throttle(), LOOK_EVERY_MS) : null;
  }

  #receive(client: Client, message: ToPtyHost): void {
    if (client.viewer === null) this.#obey(message);
    else if (!('action' in message && client.viewer.writes && isPtyHostAction(message.action))) client.socket.destroy();
    // an agent that has ended cannot be ended again
    else if (this.#ended === null) this.#passOn(client.viewer, message.action);
  }

  #obey(message: ToPtyHost): void {
    if ('note' in message) this.#note = message.note;
    else if ('bye' in message) this.#leave();
    else if (this.#ended !== null) return;
    else if ('input' in message) this.#terminal?.write(Buffer.from(message.input, 'base64'));
    else if ('resize' in message) this.#resize(message.resize);
    else if ('next' in message) this.#terminal?.prepareNext(message.next);
    else if ('dropNext' in message) this.#terminal?.dropNext();
    else if ('startNext' in message) this.#startNext(message.startNext);
  }

  /** A supervisor that has died since finds it in `holding`. If nothing is prepared, the end is reported. */
  #startNext(id: string): void {
    this.#terminal?.startNext(id).then(
      (started) => {
        clearInterval(this.#waiting ?? undefined);
        this.#waiting = null;
        this.#throttle();
        if (this.#supervisor) writeMessage(this.#supervisor.client.socket, { started });
      },
      () => {},
    );
  }

  #resize(size: Size): void {
    this.#size = size;
    this.#terminal?.resize(size.columns, size.rows);
  }

  #leave(): void {
    for (const { socket } of this.#clients) socket.end();
    this.#onBye();
  }

  #passOn({ who, writes }: Viewer, action: PtyHostAction): void {
    if (this.#supervisor) writeMessage(this.#supervisor.client.socket, { action: { ...action, who, writes } });
  }

  #gone(client: Client): void {
    this.#clients.delete(client);
    if (this.#supervisor?.client === client) this.#supervisor = null;
    this.#throttle();
    if (client.viewer?.writes) this.#passOn(client.viewer, { kind: 'leaves' });
  }
}
