import type { Observation } from '../evaluator/health.ts';
import type { SessionReport } from '../recorded/judge.ts';
import type { Decided } from '../replay/decided.ts';
import type { Mark } from '../replay/partition-replay.ts';
import { isWithin, type ReplayReader, type ReplaySource } from '../replay/source.ts';
import type { Period, Work } from './findings.ts';
import { worksOfSessions } from './work.ts';

/** More reports than fit into memory. */
export class NarrowTheSpan extends Error {
  override readonly name = 'NarrowTheSpan';
}

/** About 2 GB. */
const MOST_REPORTS = 1_000_000;

/** Collects the heartbeats of each agent, and when a plan acted on it. */
class Collector implements ReplayReader {
  readonly #source: ReplaySource;
  readonly #reports = new Map<string, SessionReport[]>();
  readonly #acted = new Map<string, { readonly from: number; to: number }[]>();
  #count = 0;

  constructor(source: ReplaySource) {
    this.#source = source;
  }

  readonly rules = (): void => {};
  readonly clock = (): void => {};
  readonly agent = (): void => {};
  readonly earlier = (): void => {};
  readonly complete = (): void => {};
  readonly unreadable = (): void => {};

  decided({ type, stateKey, occurredAt }: Decided): void {
    const known = this.#acted.get(stateKey) ?? [];
    this.#acted.set(stateKey, known);
    if (type === 'WARRANT_FILED') known.push({ from: occurredAt, to: Number.POSITIVE_INFINITY });
    const open = known.at(-1);
    if (type === 'WARRANT_LAPSED' && open !== undefined) open.to = occurredAt;
  }

  record(_: number, { timestamp }: Mark, input: Observation | null): void {
    const { span } = this.#source;
    if (input?.type !== 'AGENT_HEARTBEAT' || !isWithin(span, timestamp)) return;
    if (span.agent !== null && input.key !== span.agent) return;
    this.#count += 1;
    if (this.#count > MOST_REPORTS)
      throw new NarrowTheSpan(
        `the span has more than ${MOST_REPORTS} heartbeats: choose a shorter one (--from, --to) or one agent (--agent)`,
      );
    const { ingress: _ingress, ...fields } = input.payload;
    const report = { at: timestamp, agent: input.key, parent: fields.parent_agent_id, fields };
    const known = this.#reports.get(input.key);
    if (known === undefined) this.#reports.set(input.key, [report]);
    else known.push(report);
  }

  works(): readonly Work[] {
    const read = worksOfSessions();
    const actedOn = (agent: string): readonly Period[] => this.#acted.get(agent) ?? [];
    return [...this.#reports].flatMap(([id, reports]) => read({ id, reports, isTimed: true, finished: [] }, actedOn));
  }
}

/** The work of each agent in a span of a log. @throws NarrowTheSpan */
export const worksOfSpan = async (source: ReplaySource, signal: AbortSignal): Promise<readonly Work[]> => {
  const collector = new Collector(source);
  await source.read(collector, signal);
  return collector.works();
};
