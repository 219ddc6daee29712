import { type Codec, Undecodable, UnknownSchemaId } from '@vigil/events';
import type { Fold } from './fold.ts';
import type { LogRecord, OutRecord } from './log.ts';

/** `stoppedAt`: the offset to go on at, where there were too many dead letters; what came before is to be kept. */
type Folded = { readonly outs: readonly OutRecord[]; readonly stoppedAt?: number };

/** Folds records one after another, learning schemas on the way. Throws where the registry is in trouble. */
export const foldAll = async (fold: Fold, codec: Codec, records: readonly LogRecord[]): Promise<Folded> => {
  const outs: OutRecord[] = [];
  for (const record of records) {
    const said = foldOne(fold, codec, record);
    for (const out of Array.isArray(said) ? said : await said) outs.push(out);
    if (fold.limits.exceeded !== null) return { outs, stoppedAt: record.offset + 1 };
  }
  return { outs };
};

const foldOne = (fold: Fold, codec: Codec, record: LogRecord): readonly OutRecord[] | Promise<readonly OutRecord[]> => {
  try {
    return fold.apply(record);
  } catch (error) {
    if (!(error instanceof UnknownSchemaId)) throw error;
    return learn(fold, codec, record, error);
  }
};

/** A schema unknown to the registry too makes a dead letter; trouble with the registry is nobody's dead letter. */
const learn = async (
  fold: Fold,
  codec: Codec,
  record: LogRecord,
  unknown: UnknownSchemaId,
): Promise<readonly OutRecord[]> => {
  try {
    await codec.learn(unknown);
  } catch (error) {
    if (error instanceof Undecodable) return fold.refuse(record, error);
    throw error;
  }
  return foldOne(fold, codec, record);
};
