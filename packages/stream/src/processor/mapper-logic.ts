import { eventOf, receivedAt } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { Store } from '../state/store.ts';
import type { Clock } from './decider.ts';
import type { FoldDependencies } from './dependencies.ts';
import type { ProcessorLogic } from './processor-logic.ts';
import { encodeDraft, type RecordEncoding } from './record-encoding.ts';
import type { AnyMapper } from './topology.ts';

/** Each record gives its outputs; nothing is remembered. */
export class MapperLogic implements ProcessorLogic {
  readonly store = new Store<unknown>({ oldest: 0, upgrades: [], usual: null });
  readonly #processor: AnyMapper;
  readonly #deps: FoldDependencies;
  readonly #encoding: RecordEncoding;

  constructor(processor: AnyMapper, deps: FoldDependencies, encoding: RecordEncoding) {
    this.#processor = processor;
    this.#deps = deps;
    this.#encoding = encoding;
  }

  on(record: LogRecord, clock: Clock): readonly OutRecord[] {
    const input = eventOf(record, this.#deps.codec, this.#processor.decode);
    const stamp = receivedAt(record);
    const { correlationId } = input;
    const drafts = this.#processor.map(input, clock.now, stamp);
    this.#deps.count('events_written', drafts.length, this.#processor.processor);
    return drafts.map((draft, ordinal) => {
      const about = { stateKey: null, version: null, epoch: null, ordinal, at: stamp, now: clock.now, correlationId };
      return encodeDraft(this.#encoding, draft, { record, input }, about);
    });
  }

  deadlines(): readonly OutRecord[] {
    return [];
  }

  rearm(): void {}

  useDecider(): void {}
}
