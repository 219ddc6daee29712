import { type Codec, RegistryTrouble, Undecodable, UnknownSchemaId } from '@vigil/events';
import type { LogRecord, OutRecord } from '../log/log.ts';
import type { Fold } from './fold.ts';

/** The outputs after which a transaction ends, so that it is shorter than a broker waits. */
const MOST_OUTS = 10_000;

/**
 * `stop`: the offset to continue at, because the batch ended early; the records before it are kept. There were too many
 * outputs, due deadlines or dead letters, or the registry does not answer for the next record (`trouble`).
 */
type Folded = {
  readonly outs: readonly OutRecord[];
  readonly stop: null | { readonly at: number; readonly trouble: RegistryTrouble | null };
};

/** Folds records in order, and learns unknown schemas. */
export const foldAll = async (fold: Fold, codec: Codec, records: readonly LogRecord[]): Promise<Folded> => {
  const outs: OutRecord[] = [];
  for (const record of records) {
    const folded = foldOne(fold, codec, record);
    const outcome = folded instanceof Promise ? await folded : folded;
    if (outcome instanceof RegistryTrouble) return { outs, stop: { at: record.offset, trouble: outcome } };
    for (const out of outcome) outs.push(out);
    if (fold.isUnfinished) return { outs, stop: { at: record.offset, trouble: null } };
    if (fold.limits.exceeded !== null || outs.length >= MOST_OUTS)
      return { outs, stop: { at: record.offset + 1, trouble: null } };
  }
  return { outs, stop: null };
};

type FoldedOne = readonly OutRecord[] | RegistryTrouble;

const foldOne = (fold: Fold, codec: Codec, record: LogRecord): FoldedOne | Promise<FoldedOne> => {
  try {
    return fold.apply(record);
  } catch (error) {
    if (!(error instanceof UnknownSchemaId)) throw error;
    return learn(fold, codec, record, error);
  }
};

/** A schema that the registry does not have makes a dead letter; a failing registry makes none. */
const learn = async (fold: Fold, codec: Codec, record: LogRecord, unknown: UnknownSchemaId): Promise<FoldedOne> => {
  try {
    await codec.learn(unknown);
  } catch (error) {
    if (error instanceof RegistryTrouble) return error;
    if (error instanceof Undecodable) return fold.refuse(record, error);
    throw error;
  }
  return foldOne(fold, codec, record);
};
