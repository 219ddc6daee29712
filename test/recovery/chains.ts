import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Checkpoint } from '@vigil/events';

/** The fault of a checkpoint at the death of its agent. */
export type Kind = 'valid' | 'torn' | 'changed' | 'gone' | 'foreign' | 'future' | 'outside';

/** The finding that a runtime must report about it. */
export const whyInvalid: Readonly<Record<Exclude<Kind, 'valid'>, string>> = {
  torn: 'does_not_parse',
  changed: 'sha256_differs',
  gone: 'missing',
  foreign: 'names_another_task',
  future: 'schema_unknown',
  outside: 'not_here',
};

/** A task's checkpoints, oldest first; `broken`: each names an unknown parent. */
export type Chain = { readonly kinds: readonly Kind[]; readonly broken?: true };

/** Every kind of chain without a valid newest checkpoint, and some valid ones. */
export const chains: readonly Chain[] = [
  { kinds: ['valid'] },
  { kinds: ['valid', 'valid'] },
  { kinds: ['valid', 'torn'] },
  { kinds: ['valid', 'changed'] },
  { kinds: ['valid', 'gone'] },
  { kinds: ['valid', 'foreign'] },
  { kinds: ['valid', 'future'] },
  { kinds: ['valid', 'outside'] },
  { kinds: ['valid', 'gone', 'changed'] },
  { kinds: ['valid', 'valid', 'torn'], broken: true },
  { kinds: ['changed', 'outside'] },
  { kinds: [] },
];

export type Stored = { readonly kind: Kind; readonly file: string; readonly checkpoint: Checkpoint };

const text = (task: string, step: number, version: string): string =>
  JSON.stringify({ schema_version: version, task_id: task, step });

/**
 * Writes a task's checkpoints, as its agent would: all match their reports, except those of another task or of an
 * unknown schema.
 */
export const store = (task: string, { kinds, broken }: Chain, roots: { root: string; elsewhere: string }): Stored[] =>
  kinds.map((kind, step) => {
    const folder = kind === 'outside' ? roots.elsewhere : roots.root;
    const file = path.join(folder, task, `${step}.json`);
    const content = text(kind === 'foreign' ? `${task}0` : task, step, kind === 'future' ? '9.0.0' : '1.1.0');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    const sha256 = kind === 'torn' ? null : createHash('sha256').update(content).digest('hex');
    const parent = broken ? `${task}.lost` : step === 0 ? null : `${task}.${step - 1}`;
    const checkpoint = {
      ...{ checkpoint_id: `${task}.${step}`, parent_id: parent, uri: pathToFileURL(file).href, sha256 },
      ...{ valid: null, invalid_reason: null, created_at: null },
      ...{ completed_work: [`step ${step}`], remaining_work: [`step ${step + 1}`] },
    };
    return { kind, file, checkpoint };
  });

/** Damages files after they have been reported. */
export const spoil = (stored: readonly Stored[]): void => {
  for (const { kind, file } of stored) {
    if (kind === 'torn') writeFileSync(file, '{"task_id": ');
    if (kind === 'changed') writeFileSync(file, text('changed', 0, '1.1.0'));
    if (kind === 'gone') rmSync(file);
  }
};

/** The checkpoint from which a fresh agent must start (null: the start of the task), and the skipped ones. */
export const expected = (stored: readonly Stored[]) => {
  const newest = stored.findLastIndex(({ kind }) => kind === 'valid');
  const over = stored.slice(newest + 1).toReversed();
  return {
    from: stored[newest] ?? null,
    skipped: over.map(({ kind, checkpoint }) => ({
      checkpointId: checkpoint.checkpoint_id,
      why: kind === 'valid' ? '' : whyInvalid[kind],
    })),
  };
};
