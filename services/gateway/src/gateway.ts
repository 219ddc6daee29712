import { listen, tlsFor } from '@vigil/chassis';
import { proofSigner, Topic } from '@vigil/events';
import { beginTrace, type Log, type OutRecord, startIngress } from '@vigil/stream';
import type { Config } from './config.ts';
import { createIngress } from './http/ingress.ts';
import { createQuotas, type Quota } from './http/quotas.ts';
import { createTokenSigner, type TokenSigner } from './http/token-signing.ts';
import { guard } from './http/tokens.ts';
import { createBrokerClock } from './log/broker-clock.ts';
import { createOutbox } from './log/outbox.ts';
import { createReach } from './log/reach.ts';
import { openRecordEncoding } from './log/record-encoding.ts';
import { type TailDeps, tail } from './log/tail.ts';
import { createHeldRequests } from './requests/held-requests.ts';
import { createSessions } from './sessions/sessions.ts';
import { createState } from './state/state.ts';

/**
 * The gateway, listening at `url`. It opens when everything pending has been read. `ready`: agents can reach Kafka
 * through it. `finished` rejects when it can no longer follow the log.
 */
export type Gateway = AsyncDisposable & {
  readonly url: string;
  readonly ready: () => boolean;
  readonly finished: Promise<never>;
};

/** `signal` ends long polls with an empty list, and following. */
export const openGateway = async (
  log: Log,
  config: Config,
  { logger, count, signal, now }: TailDeps,
): Promise<Gateway> => {
  await using opening = new AsyncDisposableStack();
  const tls = tlsFor(config.VIGIL_GATEWAY_HOST, 'VIGIL_GATEWAY_HOST', config);
  const state = createState(config.VIGIL_DEFAULT_POLICY, signal);
  const catchUp = await tail(log, state, { logger, count, signal, now });
  const reach = createReach(now, catchUp.ready);
  const clock = createBrokerClock(now, (aheadMs) =>
    logger.warn({ aheadMs }, "this host's clock is far from the brokers', by which orders live: set both by NTP"),
  );
  const outbox = createOutbox(async (records) => {
    const sentAt = now();
    const stampedAt = await writeTraced(log, records, performance.now());
    reach.written();
    if (stampedAt !== null) clock.observe(sentAt, stampedAt, now());
  });
  const signer = signerOf(config);
  const name = `gateway:${config.VIGIL_GATEWAY_NAME}`;
  const context = {
    ...state,
    catchUp,
    outbox,
    encoding: await openRecordEncoding(
      log,
      name,
      config.VIGIL_PROOF_KEY === undefined ? null : proofSigner(config.VIGIL_PROOF_KEY),
    ),
    sessions: createSessions(),
    admit: guard({ token: config.VIGIL_GATEWAY_TOKEN, signer, issuedTokens: state.issuedTokens, now: clock.now }),
    signer,
    quotas: createQuotas(quotaOf(config)),
    heldRequests: createHeldRequests(clock.now()),
    ingress: name,
    count,
    closing: signal,
    now: clock.now,
  };
  // Opened before any request and closed after all of them: its marks vouch for the records before them.
  opening.use(await startIngress(log, { name, write: outbox.send, isOpen: reach.isOpen, logger }));
  const ingress = createIngress(context, tls, logger);
  opening.defer(() => ingress.close());
  const url = await listen(ingress, config.VIGIL_GATEWAY_HOST, config.VIGIL_GATEWAY_PORT, 'VIGIL_GATEWAY_PORT');
  const open = opening.move();
  return { url, ready: reach.isReady, finished: catchUp.finished, [Symbol.asyncDispose]: () => open.disposeAsync() };
};

const isHeartbeat = ({ topic, value }: OutRecord): boolean => topic === Topic.heartbeat && value !== null;

/** Heartbeats that are written together begin a trace. A mark of the ingress, which has no value, and a receipt begin none. */
const writeTraced = (log: Log, records: readonly OutRecord[], begun: number): Promise<number | null> => {
  if (!records.some(isHeartbeat)) return log.write(records);
  const attributes = { 'messaging.system': 'kafka', 'messaging.batch.message_count': records.length };
  return beginTrace({ name: 'gateway write', attributes, begun }, records, log.write);
};

const quotaOf = (config: Config): Quota => ({
  requestsPerS: config.VIGIL_TOKEN_REQUESTS_PER_S,
  bytesPerS: config.VIGIL_TOKEN_BYTES_PER_S,
  agents: config.VIGIL_TOKEN_AGENTS,
  tasks: config.VIGIL_TOKEN_TASKS,
});

const signerOf = ({
  VIGIL_GATEWAY_SECRET: current,
  VIGIL_GATEWAY_SECRET_PREVIOUS: previous,
}: Config): TokenSigner | null => {
  if (current === undefined) return null;
  return createTokenSigner(previous === undefined ? [current] : [current, previous]);
};
