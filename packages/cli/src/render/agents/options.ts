import type { Entry, RecoveryOptions } from '@vigil/read-model';
import { clockTime, type View } from '../view.ts';
import { iso } from './agents.ts';

/** What can be done next for an agent that is not healthy: by its plan, by people, and by a recovery. */
export const optionLines = (view: View, agentId: string, options: RecoveryOptions | null): string[] => {
  if (options === null) return [];
  const facts: readonly (readonly [string, string])[] = [
    ['next', nextText(view, options)],
    ...(options.steps.length === 0 ? [] : ([['plan', `"${options.plan}": ${options.steps.join(' → ')}`]] as const)),
    ...(options.decisions.length === 0 ? [] : ([['decisions', options.decisions.join(', ')]] as const)),
    ['people', `vigil nudge ${agentId}, vigil recover ${agentId}, vigil hold ${agentId}`],
    ['recovery', checkpointText(view, options)],
  ];
  return facts.map(([name, text]) => `  ${view.paint.dim(name.padEnd(10))} ${text}`);
};

const nextText = (view: View, { plan, next, suspendedBy }: RecoveryOptions): string => {
  if (plan === null) return 'no plan acts, if nothing more is received';
  if (next === null) return 'no step that is known: people decide, or a step is under way';
  const at = next.at === null ? '' : ` at ${clockTime(view, next.at)}`;
  const after = suspendedBy === null ? at : ` after the wait (${suspendedBy.replaceAll('_', ' ')})`;
  return `${next.step}${after}, unless it makes progress before`;
};

/** Steps that end a process. The governor admits one of them for an agent, and the next one after its cooldown. */
const DESTRUCTIVE: ReadonlySet<unknown> = new Set(['resume', 'terminate']);

/** The cooldown where VIGIL_GOVERNOR_COOLDOWN_S is not set, milliseconds. No event has its length. */
const USUAL_COOLDOWN_MS = 300_000;

/** That the governor probably withholds the next step, and until when; nothing where its cooldown is over by then. */
export const cooldownLines = (
  view: View,
  options: RecoveryOptions | null,
  story: readonly Pick<Entry, 'type' | 'at' | 'payload'>[],
): string[] => {
  const next = options?.next ?? null;
  if (next === null || !DESTRUCTIVE.has(next.step)) return [];
  const admissions = story.filter(({ type, payload }) => type === 'STEP_ADMITTED' && DESTRUCTIVE.has(stepOf(payload)));
  const last = admissions.toSorted((one, other) => one.at - other.at).at(-1);
  if (last === undefined) return [];
  const until = last.at + USUAL_COOLDOWN_MS;
  if (until <= Math.max(view.now, next.at ?? 0)) return [];
  const text = `${next.step} may wait for the cooldown after ${stepOf(last.payload)} at ${clockTime(view, last.at)}: until ${clockTime(view, until)} with the default of 300 s (VIGIL_GOVERNOR_COOLDOWN_S)`;
  return [`  ${view.paint.dim('governor  ')} ${text}`];
};

const stepOf = (payload: Entry['payload']): string => String((payload as { readonly step?: unknown } | null)?.step);

const checkpointText = (view: View, { checkpoint }: RecoveryOptions): string => {
  if (checkpoint === null) return 'would start the task again: no valid checkpoint is known';
  const checked = checkpoint.valid === true ? 'valid' : 'not checked yet';
  return `would continue from ${checkpoint.checkpointId} of ${clockTime(view, checkpoint.writtenAt)} (${checked})`;
};

/** The options with the names and times of the status answer. */
export const optionsJson = (options: RecoveryOptions | null): object | null => {
  if (options === null) return null;
  const { plan, steps, next, suspendedBy, decisions, checkpoint } = options;
  return {
    plan,
    steps,
    next: next && { step: next.step, at: iso(next.at) },
    suspended_by: suspendedBy,
    decisions,
    checkpoint: checkpoint && {
      id: checkpoint.checkpointId,
      written_at: iso(checkpoint.writtenAt),
      valid: checkpoint.valid,
    },
  };
};
