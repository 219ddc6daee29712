import type { AdmitSpawnPayload } from '@vigil/events';
import { templateFits } from '@vigil/policy';
import { FRESH_MS, type GovernorSettings, SPAWN_MS } from './settings.ts';
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
  settings: GovernorSettings,
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
  return best ? { runtimeId: best.runtimeId } : { none: whyNone(state, spawn, open.length, settings, now) };
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

/** The runtimes that a sentence names. */
const NAMED = 3;

/** `host-7 has 8 of 8, host-8 6 of 4` */
const placesText = (
  state: GovernorState,
  full: readonly (readonly [string, RuntimePresence])[],
  now: number,
): string => {
  const named = full.slice(0, NAMED).map(([id, runtime]) => {
    const taken = runtime.capacity - roomIn(state, id, runtime, now);
    return `${id} has ${taken} of ${runtime.capacity} places taken`;
  });
  return [...named, ...(full.length > NAMED ? [`${full.length - NAMED} more`] : [])].join(', ');
};

const whyNone = (
  state: GovernorState,
  spawn: AdmitSpawnPayload,
  open: number,
  { mostCapacity }: GovernorSettings,
  now: number,
): string => {
  const { notRuntimeIds, labels } = spawn;
  if (open > 0)
    return `${open} runtimes have room, none carries all labels ${JSON.stringify(labels)}: write them to its file, under labels`;
  const able = Object.entries(state.runtimes).filter(
    ([, runtime]) => isFresh(runtime, now) && hasTemplate(runtime, spawn),
  );
  const full = able.filter(([id]) => !notRuntimeIds.includes(id));
  const tried = able.length - full.length;
  const triedText =
    tried > 0 ? `${tried} of ${able.length} runtimes with a template for it have failed to start it` : null;
  const fullText = full.length > 0 ? placesText(state, full, now) : null;
  const limit = full.some(([, { capacity }]) => capacity >= mostCapacity)
    ? ` (VIGIL_GOVERNOR_MOST_CAPACITY counts at most ${mostCapacity} of a runtime)`
    : '';
  const remedy = full.length > 0 ? `start another, or raise its capacity${limit}` : 'start another';
  return `no runtime with a template for it has room: ${[triedText, fullText].filter(Boolean).join('; ')}: ${remedy}`;
};
