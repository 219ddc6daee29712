// Runs the bundles of the hook and of the SDK on the Node that runs this file, in plain JavaScript for Node 18 or later.
// The bundles must have been built before: npm test and npm start build them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vigil = path.join(root, 'packages/dev/bootstrap/vigil.mjs');
const { BreakerOpen, connect, fromEnvironment, hashes } = await import(
  path.join(root, '.cache/bundles/modules/sdk.mjs')
);

/** Accepts every heartbeat, and gives each agent one nudge. */
const openGateway = async () => {
  const heartbeats = [];
  const receipts = [];
  const server = createHttpServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text || 'null');
    if (request.url === '/v1/receipts') receipts.push(...body);
    else heartbeats.push(...[body].flat());
    const payload = {
      ...{ orderId: 'o-1', agentId: body?.agent_id, instanceId: body?.instance_id },
      ...{ message: 'try the tests', runtimeId: '' },
    };
    const orders = receipts.length === 0 ? [{ type: 'NUDGE_AGENT', payload, expiresInMs: 60_000 }] : [];
    const answer = { accepted: 1, orders, policy: null, intervalMs: null, waitedMs: 0 };
    response.writeHead(202).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, heartbeats, receipts, close };
};

/** A supervisor's socket, and the received lines. */
const openSocket = async (file) => {
  const lines = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (line) => lines.push(JSON.parse(line)));
  }).listen(file);
  await once(server, 'listening');
  return { lines, close: () => server.close() };
};

const until = async (what, isTrue) => {
  const end = Date.now() + 30_000;
  while (!isTrue()) {
    assert.ok(Date.now() < end, `30 s without ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const runHook = async (client, event, env) => {
  const child = spawn(process.execPath, [vigil, 'hook', '--client', client], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  child.stdin.end(JSON.stringify(event));
  const [code] = await once(child, 'close');
  assert.deepEqual({ code, output }, { code: 0, output: '' });
};

const theHookRecordsACall = async (dir) => {
  await runHook(
    'claude-code',
    {
      ...{ session_id: 's-1', hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: 'c-1' },
      ...{ tool_input: { command: 'ls' }, tool_response: { stdout: 'secret' } },
    },
    { VIGIL_SOCKET: path.join(dir, 'none.sock'), VIGIL_SPOOL: dir, VIGIL_STATE_DIR: path.join(dir, 'state') },
  );
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const text = files.map((file) => readFileSync(path.join(file.parentPath ?? file.path, file.name), 'utf8')).join('\n');
  assert.match(text, /"call_id":"c-1"/);
  assert.doesNotMatch(text, /secret/);
};

const theHookReportsToTheGateway = async (dir) => {
  const gateway = await openGateway();
  const event = { session_id: 's-2', hook_event_name: 'Stop' };
  const env = { VIGIL_GATEWAY_URL: gateway.url, VIGIL_GATEWAY_TOKEN: 't', VIGIL_STATE_DIR: path.join(dir, 'state') };
  // On a busy machine the hook does not wait until the gateway has its report.
  for (let runs = 0; gateway.heartbeats.length === 0; runs += 1) {
    assert.ok(runs < 50, `${runs} runs of the hook, and none reported to the gateway`);
    await runHook('claude-code', event, env);
  }
  gateway.close();
};

const theSdkReportsToTheGateway = async () => {
  const gateway = await openGateway();
  const env = { VIGIL_AGENT_ID: 'smoke-1', VIGIL_GATEWAY_URL: gateway.url, VIGIL_GATEWAY_TOKEN: 't' };
  const commands = [];
  const agent = connect({ ...fromEnvironment(env), taskId: 'T-1', onCommand: (command) => commands.push(command) });
  const call = { tool: 'Read', args: { path: 'a' }, deadlineMs: 60_000 };
  assert.equal(await agent.call(call, async () => 'text'), 'text');
  agent.report({ phase: 'build', tokens: 12 });
  await until('a nudge', () => commands.length > 0);
  assert.deepEqual([commands[0].kind, commands[0].message], ['nudge', 'try the tests']);
  await agent.close({ reason: 'finished' });
  assert.ok(gateway.heartbeats.some(({ agent_id, task_id }) => agent_id === 'smoke-1' && task_id === 'T-1'));
  assert.ok(gateway.receipts.length > 0);
  gateway.close();
};

const theSdkReportsToASupervisor = async (dir) => {
  const supervisor = await openSocket(path.join(dir, 'agent.sock'));
  const env = { VIGIL_AGENT_ID: 'smoke-2', VIGIL_SOCKET: path.join(dir, 'agent.sock') };
  const agent = connect({ ...fromEnvironment(env), onProblem: assert.fail });
  const fail = async () => {
    throw new Error('no such file');
  };
  let refused = 0;
  for (let count = 0; count < 7; count += 1)
    await agent.call({ tool: 'Edit', args: { count }, mutating: true }, fail).catch((error) => {
      if (error instanceof BreakerOpen) refused += 1;
    });
  assert.ok(refused > 0, 'the breaker opens after five failures');
  await until('a report', () => supervisor.lines.length > 0);
  await agent.close({ reason: 'finished' });
  supervisor.close();
};

const theSdkMasksDigitsInHashes = async () => {
  const { result_hash: first, masked_result_hash: masked } = hashes({ args: {}, result: '12 files' });
  assert.notEqual(first, hashes({ args: {}, result: '7 files' }).result_hash);
  assert.equal(masked, hashes({ args: {}, result: '7 files' }).masked_result_hash);
};

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-smoke-'));
try {
  await theHookRecordsACall(dir);
  await theHookReportsToTheGateway(dir);
  await theSdkReportsToTheGateway();
  await theSdkReportsToASupervisor(dir);
  await theSdkMasksDigitsInHashes();
  console.log(`the bundles of the hook and of the SDK run on Node ${process.versions.node}`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
