import { eventOf, receivedAt } from '../log/inputs.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { Store } from '../state/store.ts';
import type { Clock } from './decider.ts';
import type { Surroundings } from './dependencies.ts';
import type { AnyMapper } from './processor.ts';
import type { Decided } from './processor-logic.ts';
import { type Speaker, speak } from './record-encoding.ts';

/** Each record gives its outputs; nothing is remembered. */
export class ByMapper implements Decided {
  readonly store = new Store<unknown>({ oldest: 0, upgrades: [], usual: null });
  readonly #processor: AnyMapper;
  readonly #around: Surroundings;
  readonly #speaker: Speaker;

  constructor(processor: AnyMapper, around: Surroundings, speaker: Speaker) {
    this.#processor = processor;
    this.#around = around;
    this.#speaker = speaker;
  }

  on(record: LogRecord, clock: Clock): readonly OutRecord[] {
    const input = eventOf(record, this.#around.codec, this.#processor.decode);
    const stamp = receivedAt(record);
    const { correlationId } = input;
    const drafts = this.#processor.map(input, clock.now, stamp);
    this.#around.count('events_written', drafts.length, this.#processor.processor);
    return drafts.map((draft, ordinal) => {
      const said = { stateKey: null, version: null, epoch: null, ordinal, at: stamp, now: clock.now, correlationId };
      return speak(this.#speaker, draft, { record, input }, said);
    });
  }

  deadlines(): readonly OutRecord[] {
    return [];
  }

  rearm(): void {}

  turn(): void {}
}
