import type { AdmitSpawnPayload } from '@vigil/events';
import { templateFits } from '@vigil/policy';
import { FRESH_MS, SPAWN_MS } from './settings.ts';
import type { Admitted, GovernorState, RuntimePresence } from './state.ts';

/** The host of the dead agent does not restrict where the next one runs. */
const PLACE = 'host';

const isFresh = ({ announcedAt }: RuntimePresence, now: number): boolean => announcedAt > now - FRESH_MS;

const templatesFor = (
  { templates }: RuntimePresence,
  { taskId, labels }: AdmitSpawnPayload,
): RuntimePresence['templates'] => templates.filter((template) => templateFits(template, taskId, labels));

const hasTemplate = (runtime: RuntimePresence, spawn: AdmitSpawnPayload): boolean =>
  templatesFor(runtime, spawn).length > 0;

/** Why no runtime can start the task, with the lines that would change it; null: a present runtime has a template. */
export const whyNoTemplate = ({ runtimes }: GovernorState, spawn: AdmitSpawnPayload, now: number): string | null => {
  const fresh = Object.values(runtimes).filter((runtime) => isFresh(runtime, now));
  if (fresh.some((runtime) => hasTemplate(runtime, spawn))) return null;
  const among =
    fresh.length === 0 ? 'no runtime with capacity has announced itself' : 'no runtime has a template for it';
  return `no runtime can start ${spawn.taskId}: ${among}. Write to a runtime's file, and start \`vigil runtime --config FILE\`:
templates:
  - task: ${JSON.stringify(spawn.taskId)}
    command: the program that works on it
Recovery then continues without a command.`;
};

/** The runtime for a spawn: the dead instance's, else the one with most room; or why there is none. */
export const runtimeFor = (
  state: GovernorState,
  spawn: AdmitSpawnPayload,
  now: number,
): { readonly runtimeId: string } | { readonly none: string } => {
  const { preferRuntimeId, notRuntimeIds } = spawn;
  const open = Object.entries(state.runtimes)
    .filter(([id, runtime]) => isFresh(runtime, now) && hasTemplate(runtime, spawn) && !notRuntimeIds.includes(id))
    .map(([runtimeId, runtime]) => ({ runtimeId, runtime, room: roomIn(state, runtimeId, runtime, now) }))
    .filter(({ room }) => room > 0);
  const preferred = open.find(({ runtimeId }) => runtimeId === preferRuntimeId);
  if (preferred) return { runtimeId: preferred.runtimeId };
  const fitting = open.filter(({ runtime }) => carriesLabels(runtime, spawn));
  const [best] = fitting.sort((a, b) => b.room - a.room || (a.runtimeId < b.runtimeId ? -1 : 1));
  return best ? { runtimeId: best.runtimeId } : { none: whyNone(state, spawn, open.length, now) };
};

/** An announcement may have been made before the runtime had the order: an admitted spawn takes its place until it is listed, or too late. */
const roomIn = (
  { admitted }: GovernorState,
  runtimeId: string,
  { capacity, busy }: RuntimePresence,
  now: number,
): number => {
  const isPending = ({ at, isListed }: Admitted) => isListed !== true && now < at + SPAWN_MS;
  return capacity - busy - admitted.filter((one) => one.runtimeId === runtimeId && isPending(one)).length;
};

/** The runtime, or its template for the task, carries each label of the task with its value: a missing one does not agree. */
const carriesLabels = (runtime: RuntimePresence, spawn: AdmitSpawnPayload): boolean =>
  templatesFor(runtime, spawn).some((template) => lacks(spawn, { ...template.labels, ...runtime.labels }).length === 0);

const lacks = ({ labels }: AdmitSpawnPayload, offered: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(labels)
    .filter(([name, value]) => name !== PLACE && !(Object.hasOwn(offered, name) && offered[name] === value))
    .map(([name]) => name);

const whyNone = ({ runtimes }: GovernorState, spawn: AdmitSpawnPayload, open: number, now: number): string => {
  const { notRuntimeIds, labels } = spawn;
  const able = Object.values(runtimes).filter((runtime) => isFresh(runtime, now) && hasTemplate(runtime, spawn)).length;
  const tried = notRuntimeIds.length > 0 ? `, ${notRuntimeIds.length} tried already` : '';
  if (open === 0)
    return `${able} runtimes have a template for it, none has room${tried}: start another, or raise its capacity`;
  return `${open} runtimes have room, none carries all labels ${JSON.stringify(labels)}: write them to its file, under labels`;
};
