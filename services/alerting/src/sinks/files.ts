import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Telling } from '../sink.ts';
import { frictionText } from './friction.ts';
import type { Kind } from './kind.ts';

const within = z
  .string()
  .refine((folder) => !path.isAbsolute(folder) && !folder.split(/[\\/]/).includes('..'), 'write a folder below root');

const settings = z.strictObject({
  kind: z.literal('files'),
  root: z
    .string('write the folder that .onex_state lies in')
    .refine(path.isAbsolute, 'write it from / on: the service has a folder of its own'),
  friction: within.default('.onex_state/friction/'),
  dispatch_log: within.default('.onex_state/dispatch-log/'),
});
type Settings = z.output<typeof settings>;

/** Seed 003's files of a task that is Blocked; of anything else it writes nothing. Told twice, it writes once. */
export const files: Kind<typeof settings> = {
  settings,
  open: (name, where) => ({
    name,
    tell: async (telling) => {
      if (telling.type === 'ALERT_RESOLVED' || telling.payload.blocked === null) return;
      await writeBlocked(where, telling, telling.payload.blocked);
    },
  }),
};

type Blocking = Exclude<Telling, { readonly type: 'ALERT_RESOLVED' }>;
type Blocked = NonNullable<Blocking['payload']['blocked']>;

async function writeBlocked(where: Settings, { payload, occurredAt }: Blocking, blocked: Blocked): Promise<void> {
  const { taskId, agentId, checkpoint } = payload;
  const ticket = taskId ?? agentId ?? 'fleet';
  const utc = `${new Date(payload.raisedAt ?? occurredAt).toISOString().slice(0, 19)}Z`;
  const day = utc.slice(0, 10);
  const friction = path.posix.join(where.friction, `${day}-agent-stall-escalation-${nameOf(ticket)}.md`);
  const log = path.posix.join(where.dispatch_log, `${day}.ndjson`);
  const told = { ticket, log, checkpoint: pathOf(checkpoint?.uri ?? null, where.root), ...blocked };
  await writeWhole(path.join(where.root, friction), frictionText(told));
  const event = {
    timestamp_utc: utc,
    event: 'escalated_to_blocked',
    ticket_id: ticket,
    attempt_count: blocked.attempts,
    friction_path: friction,
  };
  await appendOnce(path.join(where.root, log), `${JSON.stringify(event)}\n`);
}

/** A ticket's name leads nowhere else. */
const nameOf = (ticket: string): string => ticket.toLowerCase().replace(/[^a-z0-9._-]/g, '-');

/** As seed 003 writes it: from the root on, where it lies below it. */
function pathOf(uri: string | null, root: string): string {
  if (uri === null) return 'none';
  if (!uri.startsWith('file://')) return uri;
  if (!URL.canParse(uri) || new URL(uri).hostname !== '') return uri;
  const file = fileURLToPath(uri);
  const below = path.relative(root, file);
  return below.startsWith('..') ? file : below;
}

async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

async function appendOnce(file: string, line: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const written = await readFile(file, 'utf8').catch(() => '');
  if (!written.includes(line)) await appendFile(file, line);
}
