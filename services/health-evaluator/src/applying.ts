import type { Count, Logger } from '@vigil/chassis';
import { type Draft, type EventOf, Topic } from '@vigil/events';
import { VOCABULARY } from '@vigil/health';
import { type Application, applied, CorrectThePolicy, contentHash, type PolicySet } from '@vigil/policy';
import { type Log, readAndFollow, writer } from '@vigil/stream';
import { type InForce, inForceOf, sweepsIn, warningsIn } from './policies.ts';
import { publications, readPublished, unpublished } from './published.ts';

type ApplyingDeps = {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly count: Count;
  readonly signal: AbortSignal;
  /** epoch milliseconds */
  readonly now: () => number;
};
type Command = EventOf<typeof Topic.applyPolicy>;

/**
 * `inForce`: the policies in force from now on; they are published before. `finished` rejects if the following ends
 * other than by its signal.
 */
export type Applying = {
  readonly inForce: () => InForce;
  /** follows commands as they come */
  readonly ready: () => boolean;
  readonly finished: Promise<never>;
};

/**
 * The policies of the files, with the applied ones since, in the order of the commands: first all that exist, then
 * each as it comes.
 * A document with mistakes is refused with its reasons, and the previous one stays in force.
 */
export const followApplied = async (log: Log, files: PolicySet, deps: ApplyingDeps): Promise<Applying> => {
  const { logger, count, signal, now } = deps;
  const before = await readPublished(log);
  const published = { newest: new Map(before.newest), refusals: new Set(before.refusals) };
  let inForce = inForceOf(files);
  let caughtUp = false;

  const publish = async (set: PolicySet, moment: number) => {
    for (const { draft, at } of unpublished(set, published, moment)) await writer(log, () => at).write([draft]);
    published.newest.clear();
    for (const [name, { at: _, ...publication }] of publications(set)) published.newest.set(name, publication);
  };
  const take = async (set: PolicySet, at: number) => {
    const next = inForceOf(set);
    if (caughtUp) await publish(set, at);
    inForce = next;
  };
  const refuse = async (command: Command, refusalId: string, mistakes: readonly string[]) => {
    const { name, document, by, why } = command.payload;
    count('policies_refused', 1, {});
    logger.warn({ policy: name, by, why, mistakes }, 'an applied policy is refused: what held before still holds');
    if (published.refusals.has(refusalId)) return;
    published.refusals.add(refusalId);
    const hash = document === null ? null : contentHash(document);
    const draft: Draft<typeof Topic.policy> = {
      topic: Topic.policy,
      type: 'POLICY_REFUSED',
      key: refusalId,
      payload: { name, hash, by, why, mistakes },
    };
    await writer(log, now).write([draft], { causationId: command.eventId });
  };

  const { finished, ready } = await readAndFollow(log, Topic.applyPolicy, {
    signal,
    onCaughtUp: async () => {
      await publish(inForce.set, now());
      caughtUp = true;
    },
    onUnreadable: (err, { offset }) => logger.warn({ err, offset }, 'an applied policy cannot be read: it is skipped'),
    onEvent: async (command, { offset, timestamp: at }) => {
      const application: Application = { ...command.payload, at };
      try {
        await take(applied(inForce.set, files, application, VOCABULARY), at);
      } catch (error) {
        if (!(error instanceof CorrectThePolicy)) throw error;
        return refuse(command, `refused:${offset}`, error.mistakes);
      }
      count('policies_applied', 1, {});
      const sweep = sweepsIn(inForce.set).find(({ policy }) => policy === application.name) ?? null;
      logger.info({ policy: application.name, by: application.by, why: application.why, sweep }, 'a policy is applied');
    },
  });
  for (const sweep of sweepsIn(inForce.set)) logger.info(sweep, 'the stuck sweep of a policy, and its active axes');
  for (const warning of warningsIn(inForce.set)) logger.warn(warning, 'a policy that is probably not meant so');
  return { inForce: () => inForce, ready, finished };
};
