import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Heartbeat } from '@vigil/events';
import { vigilProgram } from '../../program.fixture.ts';

type Ended = { readonly code: number; readonly out: string; readonly err: string };

/** A folder and a gateway of the contract's shape, on which `vigil run` runs the agent `worker-1`. */
export type RunStage = {
  readonly dir: string;
  readonly url: string;
  /** the status of every answer but those about policies */
  status: number;
  /** the newer instance that the gateway judges; null: there is none */
  successor: string | null;
  readonly heartbeats: Heartbeat[];
  /** offered with every answer but those about policies */
  orders: readonly object[];
  /** Starts `vigil run` in the folder. `gateway`: an address in place of that of the stage. */
  readonly start: (
    args: readonly string[],
    gateway?: string,
  ) => { readonly printed: { out: string; err: string }; readonly ended: Promise<Ended> };
  /** the gateway answers no more */
  readonly closeGateway: () => void;
  readonly close: () => void;
};

const POLICIES = '/v1/policies/';
/** Agents of the team night may request the policy night. */
const ASSIGNED = {
  rules: [
    { labels: { team: 'night' }, policy: 'demo', may_request: ['night'] },
    { policy: 'demo', may_request: ['vigil'] },
  ],
  default: 'demo',
};
const UNKNOWN = 'policy "vigli" does not exist: did you mean vigil? policies: demo, vigil';

export const openRunStage = async (): Promise<RunStage> => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-cli-'));
  const server = createServer(async (request, response) => {
    const { url = '' } = request;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const answer = (code: number, body: object) => void response.writeHead(code).end(JSON.stringify(body));
    if (url === '/v1/heartbeats') stage.heartbeats.push(JSON.parse(Buffer.concat(parts).toString()));
    if (stage.status === 403) return answer(403, { detail: `the gateway gives the reason for ${url}` });
    if (stage.status !== 202) return answer(stage.status, { detail: 'the gateway gives the reason' });
    if (url === `${POLICIES}vigil`) return answer(200, { name: 'vigil', hash: 'h', document: {} });
    if (url === `${POLICIES}night`) return answer(200, { name: 'night', hash: 'h', document: {} });
    if (url === `${POLICIES}assign.yaml`) return answer(200, { name: 'assign.yaml', hash: 'h', document: ASSIGNED });
    if (url.startsWith(POLICIES)) return answer(404, { detail: UNKNOWN });
    answer(202, { orders: stage.orders, warnings: ['unknown field "polcy"'], successor: stage.successor });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const closeGateway = () => {
    server.close();
    server.closeAllConnections();
  };
  const stage: RunStage = {
    ...{ dir, url, status: 202, successor: null, heartbeats: [], orders: [], closeGateway },
    start: (args, gateway = url) => {
      const child = spawn(process.execPath, [vigilProgram, 'run', '--name', 'worker-1', ...args], {
        cwd: dir,
        env: {
          ...{ PATH: process.env.PATH ?? '', USER: 'ada', TMPDIR: dir },
          ...{ VIGIL_STATE_DIR: dir, VIGIL_GATEWAY_URL: gateway },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const printed = { out: '', err: '' };
      child.stdout.on('data', (data) => {
        printed.out += data;
      });
      child.stderr.on('data', (data) => {
        printed.err += data;
      });
      const ended = once(child, 'close').then(([code]) => ({ code: code as number, ...printed }));
      return { printed, ended };
    },
    close: () => {
      closeGateway();
      rmSync(dir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
  return stage;
};
