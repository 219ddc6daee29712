import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Checkpoint } from '@vigil/events';
import { isAddress, LONGEST, MOST, text, texts } from './fields.ts';
import { lasting, type Notes } from './notes.ts';

/** What was saved. With `file` the SDK computes its SHA-256 and its address; without it, `uri` is the address. */
export type Saved = {
  readonly file?: string | undefined;
  readonly uri?: string | undefined;
  readonly sha256?: string | undefined;
  /** default: the first 16 digits of the SHA-256 */
  readonly id?: string | undefined;
  readonly completed?: readonly string[] | undefined;
  readonly remaining?: readonly string[] | undefined;
};

/** Reads in pieces, so that a large file does not block the event loop. Throws if the file cannot be read. */
export const digestOf = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
};

export const addressOf = (file: string): string => pathToFileURL(resolve(file)).href;

/** Throws where the gateway would refuse the address, and with it the whole heartbeat. */
export const checkedAddress = ({ uri, file }: Saved): string | null => {
  const address = text(uri, LONGEST.address) ?? (file === undefined ? null : addressOf(file));
  if (address !== null && !isAddress(address))
    throw new Error(
      `its address is ${JSON.stringify(address.slice(0, 140))}; use one without #, ? and invisible characters`,
    );
  return address;
};

/** `uri`: a checked address; null: none is known. `createdAt`: epoch milliseconds. */
export const checkpointed = (
  notes: Notes,
  saved: Saved,
  { uri, sha256 }: Pick<Checkpoint, 'uri' | 'sha256'>,
  createdAt: number,
): Notes => {
  const before = notes.lasting.checkpoint?.checkpoint_id ?? null;
  const id = text(saved.id, LONGEST.name) ?? sha256?.slice(0, 16) ?? `at-${createdAt}`;
  const checkpoint: Checkpoint = {
    checkpoint_id: id,
    parent_id: before === id ? (notes.lasting.checkpoint?.parent_id ?? null) : before,
    uri,
    sha256,
    // A later reader decides whether it is valid; that it could be read just now proves nothing.
    valid: null,
    invalid_reason: null,
    created_at: createdAt,
    completed_work: texts(saved.completed, MOST.work, LONGEST.text),
    remaining_work: texts(saved.remaining, MOST.work, LONGEST.text),
  };
  return lasting(notes, { reports_checkpoints: true, checkpoint });
};
