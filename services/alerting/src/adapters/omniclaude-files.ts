import { constants } from 'node:fs';
import { access, appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ticketName } from '@vigil/events';
import { KIND_SETTINGS } from '@vigil/policy/channels';
import type { z } from 'zod';
import { TEST_ROUTE } from '../alert/routing.ts';
import { deliveringTo, type Kind } from '../delivery/sink.ts';
import { frictionOf } from './omniclaude-friction.ts';

type Settings = z.output<typeof KIND_SETTINGS.files>;

/**
 * Writes omniclaude's files of a task that is Blocked, and nothing for other alerts. A repetition writes nothing. A test of the
 * channel fails if a file could not be written.
 */
export const files: Kind<'files'> = {
  settings: KIND_SETTINGS.files,
  open: (name, where, { linearChannels }) =>
    deliveringTo(name, async (alert) => {
      const friction = frictionOf(alert, placeOf(where), linearChannels);
      if (friction === null) return alert.payload.route === TEST_ROUTE ? requireFolders(where) : undefined;
      await writeOnce(path.join(where.root, friction.path), friction.text, ticketName(alert.eventId));
      await appendOnce(path.join(where.root, friction.log), friction.line);
    }),
};

/** Throws if its folders cannot be made or written to. */
const requireFolders = async ({ root, friction, dispatch_log: dispatchLog }: Settings): Promise<void> => {
  for (const folder of [friction, dispatchLog].map((below) => path.join(root, below))) {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK);
  }
};

const placeOf = ({ root, friction, dispatch_log: dispatchLog }: Settings) => ({
  friction,
  dispatchLog,
  checkpointPath: (uri: string) => pathOf(uri, root),
});

/** Relative to the root if it is below the root. */
const pathOf = (uri: string, root: string): string => {
  if (!uri.startsWith('file://')) return uri;
  if (!URL.canParse(uri) || new URL(uri).hostname !== '') return uri;
  const file = fileURLToPath(uri);
  const below = path.relative(root, file);
  return below.startsWith('..') ? file : below;
};

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Agents write below root too: their links are not followed, and a pipe does not block. */
const PLAIN = O_NOFOLLOW | O_NONBLOCK;

/**
 * Writes the file atomically. People write notes into it: an existing file stays as it is. `id`: makes the temporary
 * name unique.
 */
const writeOnce = async (file: string, text: string, id: string): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true });
  if (await isThere(file)) return;
  const beside = `${file}.${id}.new`;
  await writeFile(beside, text, { flag: O_WRONLY | O_CREAT | O_TRUNC | PLAIN });
  await rename(beside, file);
};

const isThere = (file: string): Promise<boolean> => access(file).then(() => true, orIfAbsent(false));

const appendOnce = async (file: string, line: string): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true });
  const written = await readFile(file, { encoding: 'utf8', flag: O_RDONLY | PLAIN }).catch(orIfAbsent(''));
  if (!written.includes(line)) await appendFile(file, line, { flag: O_WRONLY | O_CREAT | O_APPEND | PLAIN });
};

/** Any other error is a delivery that has failed. */
const orIfAbsent =
  <T>(value: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== 'ENOENT') throw error;
    return value;
  };
