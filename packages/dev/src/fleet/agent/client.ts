import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

/** A message of a supervisor to its agent. */
export type Message = {
  readonly nudge?: string;
  readonly type?: string;
  readonly order_id?: string;
  readonly problems?: readonly string[];
};

export type Vigil = {
  /** any of a heartbeat's fields */
  readonly report: (fields: object) => void;
  /** resolves once the supervisor has received all reports */
  readonly close: () => Promise<void>;
};

const AGAIN_MS = 250;

/** Everything that an agent needs for its reports: one JSON object a line, to the socket that its supervisor names. */
export const connectVigil = (path: string | undefined, onMessage: (message: Message) => void): Vigil => {
  if (path === undefined) return { report: () => {}, close: async () => {} };
  let isOpen = true;
  const connect = (): Socket => {
    const one = createConnection(path);
    // An agent does not fail when its supervisor ends; the next supervisor listens at the same path.
    one.on('error', () => {}).once('close', () => isOpen && setTimeout(reconnect, AGAIN_MS).unref());
    createInterface({ input: one })
      .on('line', (line) => {
        const message = JSON.parse(line) as Message;
        onMessage(message);
        if (message.order_id !== undefined) one.write(`${JSON.stringify({ received: message.order_id })}\n`);
      })
      .on('error', () => {});
    return one;
  };
  const reconnect = (): void => {
    socket = connect();
  };
  let socket = connect();
  return {
    report: (fields) => void socket.write(`${JSON.stringify(fields)}\n`),
    close: () => {
      isOpen = false;
      return new Promise((resolve) => (socket.destroyed ? resolve() : socket.end(() => resolve())));
    },
  };
};
