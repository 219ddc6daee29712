// Receives Vigil's alerts as webhooks and answers the questions among them.
// It needs ORCHESTRATOR_SECRET and no token of the dashboard: each choice has a link. It listens on port 7999, or on ORCHESTRATOR_PORT.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { ORCHESTRATOR_SECRET = '', ORCHESTRATOR_PORT = '7999' } = process.env;
const KEY = Buffer.from(ORCHESTRATOR_SECRET.replace(/^whsec_/, ''), 'base64');
const FIVE_MINUTES_S = 300;

/** Standard Webhooks: the signature covers id, time and body. The package `standardwebhooks` does the same. */
const isSigned = (headers, body) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < FIVE_MINUTES_S)) return false;
  const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest();
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};

/** The place for your own rules: look at the agent, the task and the checkpoint. Null leaves the question to people. */
const choose = ({ decision, checkpoint }) => {
  if (!checkpoint?.valid || !decision.options.includes('terminate_and_recover')) return null;
  return { decision: 'terminate_and_recover', why: `checkpoint ${checkpoint.checkpoint_id} is valid` };
};

const answer = async (alert) => {
  const chosen = choose(alert);
  if (chosen === null) return console.log(`${alert.title}: left to people`);
  const response = await fetch(alert.decision.links[chosen.decision], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...chosen, by: 'orchestrator' }),
  });
  console.log(`${alert.title}: ${chosen.decision} (${response.status})`);
  // 409 and 410: the question is over, and no decision is needed.
  if (!response.ok && response.status !== 409 && response.status !== 410) throw new Error(await response.text());
};

const server = createServer(async (request, response) => {
  try {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (!isSigned(request.headers, body)) return response.writeHead(401).end();
    const { type, data } = JSON.parse(body);
    console.log(`${type}: ${data.title}`);
    if (type !== 'alert.resolved' && data.decision) await answer(data);
    response.writeHead(204).end();
  } catch (error) {
    // Vigil sends the alert again, with the same id.
    console.error(String(error));
    response.writeHead(500).end();
  }
});
server.listen(Number(ORCHESTRATOR_PORT), '127.0.0.1', () => console.log('waiting for alerts'));
