import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { Topic } from '@vigil/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openNtfy, subscribe } from '../support/ntfy.ts';
import { type Received, receive } from '../support/received.ts';
import { holds, openSystem, ownServers, soak, type TestSystem, until } from '../support/system.ts';

/** 40 requests in the short form and 1,000 in the long one, each wave at once. */
const WAVES = soak(1, 10);
const IN_A_WAVE = soak(40, 100);
const REQUESTS = WAVES * IN_A_WAVE;
/** So many of a wave are answered before a service is killed; the answers to the others meet its restart. */
const BEFORE = 10;
const KILLED = ['intervention', 'alerting', 'projector'] as const;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const TOPIC = 'phone';

const agentOf = (n: number): string => `asks-${n}`;
const agents = Array.from({ length: REQUESTS }, (_, n) => agentOf(n));

/** What the message of a channel answers with: the address of each option. */
type Links = ReadonlyMap<string, string>;

/** The status of each press, and what each hook printed, in the order of the agents. */
type Answers = { readonly statuses: readonly (readonly number[])[]; readonly answers: readonly unknown[] };

/** The body of a webhook, as far as it is used here. */
type Message = {
  readonly data: {
    readonly agent_id: string | null;
    readonly decision: { readonly links: Readonly<Record<string, string>> | null } | null;
  };
};

/**
 * The rest of the rules is tested with a thousand random stories in answers.test.ts. This form has the real gateway, Kafka, the
 * services, and two channels that are pressed at the same moment.
 */
describe.skipIf(!ownServers)('answers of two channels over the real system', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-answers-'));
  const phone = new Map<string, Links>();
  const hook = new Map<string, Links>();
  const stopping = new AbortController();
  const opened = new AsyncDisposableStack();
  let vigil: TestSystem;
  let received: Received;

  beforeAll(async () => {
    const ntfy = opened.use(await openNtfy());
    await subscribe(
      ntfy,
      TOPIC,
      ({ title, actions = [] }) => {
        const agent = agents.find((name) => title.split(' ')[0] === name);
        if (agent !== undefined && actions.length > 0)
          phone.set(agent, new Map(actions.map(({ label, url }) => [label.toLowerCase(), url])));
      },
      stopping.signal,
    );
    const server = createServer(async (request, response) => {
      const { agent_id: agent, decision } = ((await json(request)) as Message).data;
      if (agent !== null && decision?.links) hook.set(agent, new Map(Object.entries(decision.links)));
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    opened.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    const file = path.join(dir, 'alerts.json');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const channels = {
      phone: { kind: 'ntfy', url: ntfy.url, topic: TOPIC, token_env: 'NTFY_TOKEN' },
      hook: { kind: 'webhook', url, secret_env: 'HOOK_SECRET' },
    };
    writeFileSync(file, JSON.stringify({ default: ['phone', 'hook'], channels }));
    const env = {
      VIGIL_ALERTS_FILE: file,
      NTFY_TOKEN: ntfy.token,
      HOOK_SECRET: SECRET,
      VIGIL_ALERT_GROUP_WAIT_MS: '0',
    };
    vigil = await openSystem({ name: 'answers', policy: 'vigil', env });
    received = await receive(vigil, [Topic.agentRequest, Topic.handleRequest]);
  }, 300_000);
  afterAll(async () => {
    stopping.abort();
    received?.stop();
    await vigil?.stop();
    await opened.disposeAsync();
    rmSync(dir, { recursive: true, force: true });
  });

  /** A hook of `type: http`: the response is the answer that the client gets. */
  const asks = async (agent: string): Promise<unknown> => {
    const { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN } = vigil.system.env;
    const tool = { tool_name: 'Bash', tool_input: { command: `deploy ${agent}` } };
    const answer = await fetch(`${VIGIL_GATEWAY_URL}/v1/hooks/claude-code`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' },
        'vigil-agent': agent,
      },
      body: JSON.stringify({ session_id: agent, hook_event_name: 'PermissionRequest', ...tool }),
    });
    return answer.json();
  };
  const press = async (links: Links | undefined, option: string): Promise<number> => {
    const answer = await fetch(links?.get(option) ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ why: 'pressed' }),
    });
    await answer.text();
    return answer.status;
  };
  /** The phone allows and the webhook denies at the same moment. */
  const pressBoth = (agent: string) => Promise.all([press(phone.get(agent), 'allow'), press(hook.get(agent), 'deny')]);

  /** Sends a wave of requests, presses two answers to each, and kills a service between them. */
  const answerWave = async (wave: number): Promise<Answers> => {
    const asking = agents.slice(wave * IN_A_WAVE, (wave + 1) * IN_A_WAVE);
    const printed = asking.map(asks);
    await until('both channels have each question', async () =>
      asking.every((agent) => phone.has(agent) && hook.has(agent)),
    );
    // The dashboard refuses the link of a request that has not reached it yet.
    for (const agent of asking)
      await until(`${agent} is known`, async () => (await fetch(phone.get(agent)?.get('allow') ?? '')).ok);

    const first = await Promise.all(asking.slice(0, BEFORE).map(pressBoth));
    await Promise.all(printed.slice(0, BEFORE));
    const killed = vigil.system.service(KILLED[wave % KILLED.length] ?? 'intervention');
    const before = killed.restarts();
    const pressing = asking.slice(BEFORE).map(pressBoth);
    killed.kill('SIGKILL');
    const statuses = [...first, ...(await Promise.all(pressing))];
    const answers = await Promise.all(printed);
    await until(`${killed.name} runs again`, async () => killed.restarts() > before && killed.pid() !== null);
    return { statuses, answers };
  };

  test(`of ${REQUESTS} requests each gets one of its two answers, also while a service is killed and starts again`, {
    timeout: 300_000 * WAVES,
  }, async () => {
    const waves: Answers[] = [];
    for (let wave = 0; wave < WAVES; wave++) waves.push(await answerWave(wave));
    const statuses = waves.flatMap((wave) => wave.statuses);
    const answers = waves.flatMap((wave) => wave.answers);

    const answered = () =>
      received.of(Topic.agentRequest).flatMap((one) => (one.type === 'REQUEST_ANSWERED' ? [one] : []));
    await holds(() => expect(answered()).toHaveLength(REQUESTS));
    const written = received.of(Topic.handleRequest).flatMap((one) => (one.type === 'ANSWER_REQUEST' ? [one] : []));
    for (const [n, agent] of agents.entries()) {
      const [one, ...more] = answered().filter(({ payload }) => payload.agentId === agent);
      expect(more).toEqual([]);
      expect(answers[n]).toMatchObject({ hookSpecificOutput: { decision: { behavior: one?.payload.option } } });
      // It is the answer of this agent's own request, and the first that was written for it.
      const own = written.filter(({ payload }) => payload.agentId === agent);
      expect(one?.payload).toMatchObject({
        ...{ requestId: own[0]?.payload.requestId, option: own[0]?.payload.option, by: own[0]?.payload.by },
      });
      expect(new Set(own.map(({ payload }) => payload.requestId)).size).toBe(1);
      // A second answer is refused where it was given, or in the log.
      expect(statuses[n]?.filter((status) => status < 300).length).toBe(own.length);
      expect(statuses[n]?.every((status) => status < 300 || status === 409)).toBe(true);
    }
    const refused = () => received.of(Topic.agentRequest).filter(({ type }) => type === 'ANSWER_REFUSED').length;
    await holds(() => expect(refused()).toBe(written.length - REQUESTS));
  });

  test('an answer that comes after the first is refused by both channels, and changes nothing', async () => {
    await holds(async () => expect(new Set((await Promise.all(agents.map(pressBoth))).flat())).toEqual(new Set([409])));
    const answered = received.of(Topic.agentRequest).filter(({ type }) => type === 'REQUEST_ANSWERED');
    expect(answered).toHaveLength(REQUESTS);
  });
});
