// Runs an agent with the installed SDK, in plain JavaScript, against a gateway that gives it one nudge.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, hashes, overGateway } from '@vigil/sdk';
import { NORMALISER } from '@vigil/sdk/hashes';

const heartbeats = [];
const receipts = [];
const payload = {
  orderId: 'o-1',
  number: 1,
  agentId: 'worker-1',
  instanceId: null,
  runtimeId: '',
  message: 'try the tests',
};
const gateway = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  const body = JSON.parse(text || 'null');
  if (request.url === '/v1/receipts') receipts.push(...body);
  else heartbeats.push(body);
  const orders = receipts.length === 0 ? [{ type: 'NUDGE_AGENT', payload, expiresInMs: 60_000 }] : [];
  response.writeHead(202).end(JSON.stringify({ accepted: 1, orders, policy: null, intervalMs: null, waitedMs: 0 }));
}).listen(0, '127.0.0.1');
await once(gateway, 'listening');

const over = overGateway({ url: `http://127.0.0.1:${gateway.address().port}`, token: 't' });
const agent = connect({ agentId: 'worker-1', taskId: 'T-1', over, intervalMs: 200, onProblem: assert.fail });
// The listening server keeps this process alive until the nudge is here.
const nudged = new Promise((resolve) => agent.onCommand(resolve));
assert.equal(await agent.call({ tool: 'Read', args: { path: 'a' } }, async () => 'text'), 'text');
agent.report({ phase: 'build', tokens: 12 });
assert.deepEqual(await nudged, { kind: 'nudge', message: 'try the tests' });
await agent.close({ reason: 'finished' });
gateway.close();
gateway.closeAllConnections();

assert.ok(
  heartbeats.flatMap(({ tool_calls: calls }) => calls).some(({ tool, outcome }) => tool === 'Read' && outcome === 'ok'),
);
assert.equal(heartbeats.at(-1).exit.reason, 'finished');
assert.ok(hashes({ args: {}, result: 'x', failed: false, endedAt: null }).result_hash.startsWith(`r${NORMALISER}:`));
// Only this transport loads the Kafka client: its modules must load here, too.
const { overKafka } = await import('@vigil/sdk');
const problems = [];
const overNoBroker = overKafka({ brokers: ['127.0.0.1:1'], registryUrl: 'http://127.0.0.1:1' });
const onKafka = connect({ agentId: 'worker-2', over: overNoBroker, onProblem: (problem) => problems.push(problem) });
while (problems.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
await onKafka.close({ withinMs: 1 });
assert.match(problems[0], /^heartbeats wait: .*ECONNREFUSED/s);
console.log(`the SDK runs on Node ${process.versions.node}`);
process.exit(0);
