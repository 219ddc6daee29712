import type { Knowledge, ReadModel } from '@vigil/read-model';
import { within } from '@vigil/stream';
import { REGISTRY, readiness, registryAnswers } from './doctor.ts';
import { beginning, type Instant, knowledgeOf, type LookOut, POSTGRES, probed, projected } from './knowledge.ts';

const EVERY_MS = 1000;
const ANSWER_MS = 2000;

export type LookOutDeps = {
  readonly model: Pick<ReadModel, 'projectedUpTo'>;
  readonly probes: readonly (readonly [service: string, url: string])[];
  /** root of its Confluent-compatible API */
  readonly registry: string;
  readonly instant: () => Instant;
  readonly signal: AbortSignal;
};

/** Looks each second how old the read model is, and which parts answer, until the signal is aborted. */
export const lookOut = ({ model, probes, registry, instant, signal }: LookOutDeps): (() => Knowledge) => {
  let seen: LookOut = beginning(instant());
  const busy = new Set<string>();
  /** One question to a part at a time: the next one waits for its answer. */
  const look = async (part: string, ask: () => Promise<string | null>): Promise<void> => {
    if (busy.has(part)) return;
    busy.add(part);
    const detail = await ask().catch((error: unknown) => (error as Error).message);
    busy.delete(part);
    seen = probed(seen, part, detail, instant());
  };
  const readModelAge = async (): Promise<null> => {
    const upTo = await within(ANSWER_MS, model.projectedUpTo(), 'Postgres');
    seen = projected(seen, upTo, instant());
    return null;
  };
  const all = (): void => {
    void look(POSTGRES, readModelAge);
    const ofPart = async (answer: ReturnType<typeof readiness>): Promise<string | null> => {
      const { ready, detail } = await answer;
      return ready ? null : detail;
    };
    for (const [service, url] of probes) void look(service, () => ofPart(readiness(service, url)));
    void look(REGISTRY, () => ofPart(registryAnswers(registry)));
  };
  all();
  const timer = setInterval(all, EVERY_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return () => knowledgeOf(seen, instant());
};
