import { appendFileSync, existsSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * An agent that a test controls: it works and reports unless there is a file `<name>.silent`. It notes each part of its
 * work in `<name>.parts`. It notes each request to end in `<name>.ends`, and takes a moment over it.
 */
const [name = '', folder = '.'] = process.argv.slice(2);
/** The next supervisor listens at the same path. */
const connect = (): void => {
  socket = createConnection(process.env.VIGIL_SOCKET ?? '').on('error', () => {});
  socket.once('close', () => setTimeout(connect, 200));
  createInterface({ input: socket })
    .on('line', (line) => {
      const { type, order_id } = JSON.parse(line);
      if (order_id !== undefined) socket.write(`${JSON.stringify({ received: order_id })}\n`);
      if (type === 'shutdown_request' || type === 'handoff_request') leave();
    })
    .on('error', () => {});
};
let socket: Socket;
connect();

let work = 0;
const labour = (): void => {
  if (existsSync(path.join(folder, `${name}.silent`))) return;
  work += 1;
  appendFileSync(path.join(folder, `${name}.parts`), '.');
  process.stdout.write(`part ${work} is done\n`);
  const call = { call_id: `c${work}`, tool: 'Edit', args_hash: `${work}`, result_hash: `${work}`, outcome: 'ok' };
  const calls = [{ ...call, mutating: true, started_at: Date.now(), ended_at: Date.now() }];
  socket.write(`${JSON.stringify({ activity: 'working', tool_calls: calls })}\n`);
};
setInterval(labour, 300);

let isLeaving = false;
const leave = (): void => {
  if (isLeaving) return;
  isLeaving = true;
  appendFileSync(path.join(folder, `${name}.ends`), 'asked to end\n');
  setTimeout(() => process.exit(0), 1500);
};
process.on('SIGTERM', leave);
