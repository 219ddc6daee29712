import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The parts of a message that an orchestrator needs. */
export type Message = {
  readonly type: string;
  readonly data: {
    readonly id: string;
    readonly agent_id: string | null;
    readonly severity: string;
    readonly decision: {
      readonly options: readonly string[];
      readonly deadline: string | null;
      readonly url: string;
      readonly body: object;
    } | null;
    readonly checkpoint: { readonly checkpoint_id: string; readonly valid: boolean | null } | null;
  };
};

export type Orchestrator = {
  readonly url: string;
  /** the accepted messages, without repetitions */
  readonly taken: () => readonly Message[];
  /** the number of refusals, because it is overloaded at first */
  readonly refused: () => number;
  /** calls without a valid signature */
  readonly forged: () => number;
  readonly stop: () => void;
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** Verifies signatures by the specification's own library. Its first caller is refused as if it were overloaded. */
export const startOrchestrator = async (): Promise<Orchestrator> => {
  const taken = new Map<string, Message>();
  const counts = { refused: 0, forged: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    if (counts.refused === 0) {
      counts.refused += 1;
      response.writeHead(429, { 'retry-after': '1' }).end();
      return;
    }
    try {
      const message = new Webhook(SECRET).verify(text, request.headers as Record<string, string>) as Message;
      taken.set(message.data.id, message);
      response.writeHead(204).end();
    } catch {
      counts.forged += 1;
      response.writeHead(401).end();
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/vigil`,
    taken: () => [...taken.values()],
    refused: () => counts.refused,
    forged: () => counts.forged,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
