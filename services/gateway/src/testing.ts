import { type CounterName, type Logger, readConfig } from '@vigil/chassis';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Log } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { afterEach, beforeEach } from 'vitest';
import { config } from './config.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { createTokenSigner, type TokenClaims } from './http/token-signing.ts';

export const TOKEN = 'a-token-for-tests-only';
export const PROOF_KEY = 'a-key-of-proofs-for-tests-only-0001';
export const SECRET = 'a-secret-for-tests-only-of-some-length';

/** Claims that allow what the tests of other rules report. */
const EVERYTHING = { tasks: ['*'], labels: { team: ['*'] }, policies: ['vigil', 'policy'], capacity: 100 };
export const claimsOf = (kind: TokenClaims['kind'], name: string, more: Partial<TokenClaims> = {}): TokenClaims => {
  const now = Date.now();
  return { ...EVERYTHING, id: `${kind}-${name}`, kind, name, issuedAt: now, expiresAt: now + 3_600_000, ...more };
};

export const signer = createTokenSigner([SECRET]);
export const showing = (shown: string) => ({ authorization: `Bearer ${shown}` });
/** The header of a request with a token of these claims. */
export const showingClaims = async (...claims: Parameters<typeof claimsOf>) =>
  showing(await signer.sign(claimsOf(...claims)));

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;

/** The eight fields of CODITECT's `ADR-110`. */
export const least = {
  agent_id: 'worker-1',
  task_id: null,
  timestamp: '2026-11-22T00:00:00Z',
  phase: 'implement',
  last_tool_call: null,
  token_count: 10,
  error_count: 0,
  progress_indicator: 'step 1',
};

const policy = { name: 'vigil', hash: 'h1', document: '{"heartbeat":{"interval":"30s"}}', withdrawn: false };
const env = {
  KAFKA_BROKERS: 'memory:1',
  SCHEMA_REGISTRY_URL: 'http://memory',
  VIGIL_GATEWAY_TOKEN: TOKEN,
  VIGIL_GATEWAY_SECRET: SECRET,
  VIGIL_PROOF_KEY: PROOF_KEY,
  VIGIL_GATEWAY_NAME: 'a',
};

type Held = {
  readonly topic: string;
  readonly reached: PromiseWithResolvers<void>;
  readonly released: PromiseWithResolvers<void>;
};

/** A gateway on a log in memory, opened again for each test, and requests to it. */
export const testGateway = () => {
  let log: MemoryLog;
  let gateway: Gateway;
  let open: () => Promise<Gateway>;
  let stop: AbortController;
  let lagging: boolean;
  let mute: boolean;
  let held: Held | null;
  let moment: number;
  const counted = new Map<CounterName, number>();
  beforeEach(async () => {
    log = new MemoryLog();
    counted.clear();
    lagging = false;
    mute = false;
    held = null;
    moment = 0;
    const follow: Log['follow'] = (topics, from, onRecord, signal) =>
      log.follow(topics, from, (record) => void (lagging || onRecord(record)), signal);
    const write: Log['write'] = async (records) => {
      if (mute) throw new Error('the broker is away');
      // A mark of the ingress is not what a test waits for.
      const isHeld = records.some(({ topic, value }) => topic === held?.topic && value !== null);
      if (held !== null && isHeld) {
        held.reached.resolve();
        await held.released.promise;
      }
      return log.write(records);
    };
    const followed: Log = Object.assign(Object.create(log), { follow, write });
    stop = new AbortController();
    await log.publish(example(Topic.policy, 'POLICY_PUBLISHED', policy));
    const settings = { ...readConfig(config, env), VIGIL_GATEWAY_PORT: 0 };
    open = () =>
      openGateway(followed, settings, {
        logger: quiet,
        count: (...[name, by]) => counted.set(name, (counted.get(name) ?? 0) + by),
        signal: stop.signal,
        now: () => Date.now() + moment,
      });
    gateway = await open();
  });
  afterEach(async () => {
    stop.abort();
    await gateway[Symbol.asyncDispose]();
  });
  const authorization = `Bearer ${TOKEN}`;
  const json = { authorization, 'content-type': 'application/json' };
  const postRaw = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, { method: 'POST', body, headers: { ...json, ...headers } });
  return {
    log: () => log,
    url: () => gateway.url,
    counted: (name: CounterName) => counted.get(name) ?? 0,
    /** From now on, written records do not reach the gateway by themselves. */
    lag: () => {
      lagging = true;
    },
    /** Nothing can be written from now on; or again. */
    mute: (isMute = true) => {
      mute = isMute;
    },
    /** The next writes to a topic wait until they are released. */
    hold: (topic: string) => {
      const one = { topic, reached: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
      held = one;
      return {
        reached: one.reached.promise,
        release: () => {
          held = null;
          one.released.resolve();
        },
      };
    },
    later: (ms: number) => {
      moment += ms;
    },
    ready: () => gateway.ready(),
    close: () => gateway[Symbol.asyncDispose](),
    /** Closes the gateway, and opens another one on the same log. */
    reopen: async () => {
      await gateway[Symbol.asyncDispose]();
      gateway = await open();
    },
    stop: () => stop.abort(),
    get: (path: string, headers: Record<string, string> = {}) =>
      fetch(gateway.url + path, { headers: { authorization, ...headers } }),
    postRaw,
    /** A request whose client closes the connection before the answer. */
    postAndLeave: (path: string, body: unknown, headers: Record<string, string>, leave: AbortSignal) =>
      fetch(gateway.url + path, {
        ...{ method: 'POST', body: JSON.stringify(body), headers: { ...json, ...headers }, signal: leave },
      }).catch(() => null),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      postRaw(path, JSON.stringify(body), headers),
  };
};

export const answerOf = async (response: Response) => ({
  status: response.status,
  body: (await response.json()) as Record<string, unknown>,
});
