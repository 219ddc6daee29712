import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ASSIGNMENT, type Assignment, type Checked, differences, isAssignable, readAssignment } from '@vigil/policy';
import type { PolicyRefusalRow, PolicyRow, WrittenCommand } from '@vigil/read-model';
import { stringify } from 'yaml';
import { wholeAnswer } from '../client.ts';
import { path, shownBy } from '../commands/control/options.ts';
import { CannotProceed, Refusal } from '../errors.ts';
import { appliedLines, differenceLines, type PolicyChange, policiesTable } from '../render/fleet/policies.ts';
import { isCurrent } from '../render/knowledge.ts';
import { type Aged, dashboard, endBlind, endUnwell, type Json, reportAge, show, showAged } from '../terminal.ts';
import { readFiles } from './files.ts';

type InForce = Aged & { readonly policies: readonly PolicyRow[]; readonly refusals: readonly PolicyRefusalRow[] };
type Whole = PolicyRow & Aged & { readonly document: unknown };
type Apply = Json & {
  readonly remove?: readonly string[];
  readonly dryRun?: boolean;
  readonly why: string;
  readonly by: string;
};

/** How long to wait for the outcome of a command. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 250;

const inForce = () => wholeAnswer<InForce>(dashboard(), '/v1/policies', 'policies', {});

export const list = async ({ json }: Json): Promise<void> => {
  const { policies, knowledge } = await inForce();
  showAged(json, policies, knowledge, (rows, view, isNow) => policiesTable(view, rows, isNow));
};

export const showOne = async (name: string, { json }: Json): Promise<void> => {
  const found = await dashboard().get<Whole>(path('policies', name));
  const { knowledge } = found;
  // On stderr for people, too: the output is a policy, which may go into a file.
  if (knowledge !== undefined) reportAge(knowledge);
  show(json, found, ({ hash, origin, publishedBy, why, document }) => [
    `# ${name} ${hash}, ${origin ?? 'published'} by ${publishedBy}${why === null ? '' : `: ${why}`}`,
    stringify(document, { lineWidth: 120 }).trimEnd(),
  ]);
  if (knowledge !== undefined && !isCurrent(knowledge)) endBlind();
};

export const diff = async (before: string, after: string, { json }: Json): Promise<void> => {
  const [old, now] = [await documentOf(before), await documentOf(after)];
  const found = differences(old, now);
  show(json, found, (all, view) => differenceLines(view, all));
  if (found.length > 0) endUnwell();
};

/** Written as a file: with a folder, or with the ending of one. Any other word is a policy's name first. */
const isPath = (named: string): boolean => /[/\\]|\.(ya?ml|json)$/.test(named);

const existing = (named: string) => statSync(named, { throwIfNoEntry: false });

/** A file, or the policy in force of this name. */
const documentOf = async (named: string): Promise<unknown> => {
  if (isPath(named) && existing(named) !== undefined) return documentIn(named);
  try {
    return (await dashboard().get<Whole>(path('policies', named))).document;
  } catch (error) {
    if (existing(named)?.isFile() !== true) throw error;
    return documentIn(named);
  }
};

const documentIn = (named: string): unknown => {
  const [file, ...more] = readFiles([named], [named]);
  if (file === undefined || more.length > 0) throw new CannotProceed(`${named} is a directory: give one file.`);
  return JSON.parse(file.document);
};

const NOT_APPLIED = 'This was a dry run: nothing has been applied.';

export const apply = async (paths: readonly string[], { remove = [], dryRun, why, by, json }: Apply): Promise<void> => {
  if (paths.length + remove.length === 0) throw new CannotProceed('policy apply needs files, or --remove NAME');
  const { policies } = await inForce();
  const known = policies.map(({ name }) => name);
  const files = paths.length === 0 ? [] : readFiles(paths, known);
  const planned = await Promise.all([
    ...files.map((file) => plannedFor(file, policies)),
    ...remove.map((name) => removal(name, policies)),
  ]);
  const changes = withUnassigned(planned, await assignmentAfter(planned, policies));
  if (dryRun) return show(json, changes, (all, view) => [...appliedLines(view, all), NOT_APPLIED]);
  for (const one of changes) {
    if (one.change === 'none') continue;
    const command = { kind: 'apply_policy', name: one.name, document: one.document, by, why };
    await outcome(one, await dashboard().post<WrittenCommand>('/v1/commands', command));
  }
  show(json, changes, (all, view) => appliedLines(view, all));
};

/** The assignment that is in force once these changes are; null: none is published. */
const assignmentAfter = async (
  changes: readonly PolicyChange[],
  policies: readonly PolicyRow[],
): Promise<Assignment | null> => {
  const written = changes.find(({ name, document }) => name === ASSIGNMENT && document !== null);
  if (written !== undefined) return readAssignment(written.document, ASSIGNMENT);
  if (!policies.some(({ name }) => name === ASSIGNMENT)) return null;
  return readAssignment((await dashboard().get<Whole>(path('policies', ASSIGNMENT))).document, ASSIGNMENT);
};

/** Adds a warning to each policy that no agent gets. */
const withUnassigned = (changes: readonly PolicyChange[], assignment: Assignment | null): readonly PolicyChange[] =>
  changes.map((one) => {
    const { name, document } = one;
    if (assignment === null || document === null || name === ASSIGNMENT || isAssignable(assignment, name)) return one;
    const warning = `no agent is judged by ${name}, also where it requests it: ${ASSIGNMENT} does not permit ${name}; add it to may_request of a rule, then vigil policy apply ${ASSIGNMENT}`;
    return { ...one, warnings: [...one.warnings, warning] };
  });

const plannedFor = async (
  { name, hash, document, file, warnings }: Checked,
  policies: readonly PolicyRow[],
): Promise<PolicyChange> => {
  const written = JSON.parse(document) as Readonly<Record<string, unknown>>;
  const before = policies.find((policy) => policy.name === name);
  const planned = { name, hash, document: written, file, warnings, differences: [] };
  if (before === undefined) return { ...planned, change: 'new' };
  if (before.hash === hash) return { ...planned, change: 'none' };
  const old = (await dashboard().get<Whole>(path('policies', name))).document;
  return { ...planned, change: 'changed', differences: differences(old, written) };
};

const removal = (name: string, policies: readonly PolicyRow[]): PolicyChange => {
  const applied = policies.find((policy) => policy.name === name && policy.origin === 'applied');
  if (applied === undefined)
    throw new CannotProceed(
      `Nothing is applied under the name ${name}: \`vigil policy list\` lists the applied policies and their origin.`,
    );
  return { name, hash: null, document: null, file: null, warnings: [], change: 'removed', differences: [] };
};

/** Waits until it is in force. Throws Refusal with the evaluator's reasons. */
const outcome = async ({ name, hash, change }: PolicyChange, { eventId }: WrittenCommand): Promise<void> => {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    const { policies, refusals } = await inForce();
    const now = policies.find((policy) => policy.name === name);
    if (change === 'removed' ? now?.origin !== 'applied' : now?.hash === hash) return;
    const refused = refusals.find(({ commandId }) => commandId === eventId);
    if (refused)
      throw new Refusal(`${name} is refused:\n${refused.mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`);
    await sleep(LOOK_MS);
  }
  throw new Refusal(
    `${name} is written, and after ${PATIENCE_MS / 1000} s it is not known whether it is in force. It may be, or will be when every part works again (vigil doctor). What becomes of it: ${shownBy(eventId)} --wait`,
  );
};
