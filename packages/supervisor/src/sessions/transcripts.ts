import { adapterNamed } from '@vigil/adapters';
import type { SessionEvent } from '@vigil/adapters/session';
import type { SpoolRecord } from '@vigil/hook/spool';
import type { Marks } from '@vigil/hook/transcript';
import * as transcript from '@vigil/hook/transcript';

/** With the files that a record names for the first time. */
export const withTranscripts = (before: Marks, record: SpoolRecord): Marks => {
  const adapter = adapterNamed(record.client);
  return adapter === undefined ? before : transcript.withTranscripts(before, record, adapter.transcript);
};

/** The marks after a read, the same object if nothing is new, and the events in between. */
export const readTranscripts = (
  before: Marks,
  client: string,
): { readonly marks: Marks; readonly events: readonly SessionEvent[] } => {
  const adapter = adapterNamed(client);
  return adapter === undefined ? { marks: before, events: [] } : transcript.readTranscripts(before, adapter.transcript);
};
