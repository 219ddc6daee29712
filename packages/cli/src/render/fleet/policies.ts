import type { Checked, Difference } from '@vigil/policy';
import type { PolicyRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import { stateText } from '../knowledge.ts';
import { clockTime, orDash, table, type View } from '../view.ts';

/** What becomes of a document: `file` null: one that is taken back. */
export type PolicyChange = {
  readonly name: string;
  readonly hash: string | null;
  readonly document: Readonly<Record<string, unknown>> | null;
  readonly file: string | null;
  readonly warnings: readonly string[];
  readonly change: 'none' | 'new' | 'changed' | 'removed';
  readonly differences: readonly Difference[];
};

/** `isNow`: the agents are counted by their present policies, not by those of an earlier time. */
export const policiesTable = (view: View, policies: readonly PolicyRow[], isNow: boolean): string[] =>
  table<PolicyRow>(
    view,
    [
      { title: 'POLICY', of: ({ name }) => name },
      { title: 'HASH', of: ({ hash }) => hash },
      { title: 'FROM', of: ({ origin }) => orDash(origin) },
      { title: 'AGENTS', of: ({ name, agents }) => (name.includes('.') ? '-' : stateText(String(agents), isNow)) },
      { title: 'SINCE', of: ({ publishedAt }) => clockTime(view, publishedAt) },
      { title: 'BY', of: ({ publishedBy }) => publishedBy },
      { title: 'WHY', of: ({ why }) => orDash(why), rest: true },
    ],
    policies.toSorted((one, other) => byName(one.name, other.name)),
    'No policy is published: start health-evaluator.',
  );

export const checkedLines = ({ paint }: View, files: readonly Checked[]): string[] =>
  files.flatMap(({ file, name, hash, warnings }) => [
    `${paint.green('ok')}  ${file}: ${name} ${hash}`,
    ...warningLines(paint.yellow, warnings),
  ]);

/** `signals.no_activity.after: 6 min → 8 min`. */
export const differenceLines = ({ paint }: View, found: readonly Difference[]): string[] => {
  if (found.length === 0) return ['They are the same.'];
  return found.map(({ path, old, new: now }) => {
    if (old === null) return `${path}: ${paint.green(`${now}`)} is new`;
    return now === null ? `${path}: ${paint.red(old)} is gone` : `${path}: ${paint.red(old)} → ${paint.green(now)}`;
  });
};

const CHANGE_TEXT = {
  none: 'is in force already',
  new: 'is new',
  changed: 'changes',
  removed: 'is taken back',
} as const;

export const appliedLines = (view: View, changes: readonly PolicyChange[]): string[] =>
  changes.flatMap(({ name, hash, change, warnings, differences }) => [
    `${name}${hash === null ? '' : ` ${hash}`} ${CHANGE_TEXT[change]}`,
    ...(differences.length > 0 ? differenceLines(view, differences).map((line) => `  ${line}`) : []),
    ...warningLines(view.paint.yellow, warnings),
  ]);

const warningLines = (paint: (text: string) => string, warnings: readonly string[]): string[] =>
  warnings.map((warning) => `  ${paint('probably not meant so')}: ${warning}`);
