import { type Count, type Logger, listen } from '@vigil/chassis';
import { type Log, startIngress } from '@vigil/stream';
import { createBoard } from './board.ts';
import { createBrokerClock } from './broker-clock.ts';
import type { Config } from './config.ts';
import { createDoor } from './door.ts';
import { createHalts } from './halts.ts';
import { createOutbox } from './outbox.ts';
import { createOwners } from './owners.ts';
import { createPolicies } from './policies.ts';
import { createReach } from './reach.ts';
import { createSessions } from './sessions/sessions.ts';
import { createReachedLimits } from './spending.ts';
import { tail } from './tail.ts';
import { guard } from './tokens.ts';
import { createWaits } from './waits.ts';
import { openWriting } from './writing.ts';

/** `signal` ends long polls with an empty list, and following; `now`: epoch milliseconds. */
type Surroundings = {
  readonly logger: Logger;
  readonly count: Count;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/** The agents' door, listening at `url`. It opens when everything pending has been read. `ready`: agents can be heard through it; `finished` rejects where it cannot follow the log any more. */
export type Gateway = AsyncDisposable & {
  readonly url: string;
  readonly ready: () => boolean;
  readonly finished: Promise<never>;
};

export const openGateway = async (
  log: Log,
  config: Config,
  { logger, count, signal, now }: Surroundings,
): Promise<Gateway> => {
  await using opening = new AsyncDisposableStack();
  const board = createBoard();
  const owners = createOwners();
  const waits = createWaits(signal);
  const limits = createReachedLimits();
  const policies = createPolicies(config.VIGIL_DEFAULT_POLICY);
  const around = { board, owners, waits, policies, limits, halts: createHalts() };
  const catchUp = await tail(log, around, { logger, count, signal, now });
  const reach = createReach(now, catchUp.ready);
  const clock = createBrokerClock(now, (aheadMs) =>
    logger.warn({ aheadMs }, "this host's clock is far from the brokers', by which orders live: set both by NTP"),
  );
  const outbox = createOutbox(async (records) => {
    const sentAt = now();
    const stampedAt = await log.write(records);
    reach.written();
    if (stampedAt !== null) clock.observe(sentAt, stampedAt, now());
  });
  const name = `gateway:${config.VIGIL_GATEWAY_NAME}`;
  const behind = {
    board,
    owners,
    catchUp,
    waits,
    policies,
    limits,
    outbox,
    writing: await openWriting(log, name),
    sessions: createSessions(),
    admit: guard(config.VIGIL_GATEWAY_TOKEN, config.VIGIL_GATEWAY_SECRET),
    count,
    closing: signal,
    now: clock.now,
  };
  // Opened before anything is heard, and closed behind everything that was: its marks vouch for what stands before them.
  opening.use(await startIngress(log, { name, write: outbox.send, isOpen: reach.isOpen, logger }));
  const door = createDoor(behind, logger);
  opening.defer(() => door.close());
  const url = await listen(door, config.VIGIL_GATEWAY_HOST, config.VIGIL_GATEWAY_PORT, 'VIGIL_GATEWAY_PORT');
  const open = opening.move();
  return { url, ready: reach.isReady, finished: catchUp.finished, [Symbol.asyncDispose]: () => open.disposeAsync() };
};
