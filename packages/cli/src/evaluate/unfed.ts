import { fedBy, INPUTS, type Input } from '@vigil/health';
import type { CompiledPolicy } from '@vigil/policy';
import { plainAll } from '../render/plain.ts';

/** What the runs of each file contain, together. */
export class FileInputs {
  readonly #files = new Map<string, ReadonlySet<Input>>();

  add(file: string, inputs: ReadonlySet<Input>): void {
    this.#files.set(file, (this.#files.get(file) ?? new Set()).union(inputs));
  }

  /** Null: no run of the file was judged. */
  of(file: string): ReadonlySet<Input> | null {
    return this.#files.get(file) ?? null;
  }

  /** Files that contain the same. */
  groups(): readonly (readonly [files: readonly string[], inputs: ReadonlySet<Input>])[] {
    const keyOf = (inputs: ReadonlySet<Input>) => [...inputs].sort().join();
    const groups = Map.groupBy(this.#files, ([, inputs]) => keyOf(inputs));
    return [...groups.values()].map((some) => [some.map(([file]) => file), some[0]?.[1] ?? new Set()]);
  }
}

/** The signals that files cannot feed, for people; once for files that lack the same. */
export const unfedLines = (policy: CompiledPolicy, inputs: FileInputs): string[] =>
  inputs.groups().flatMap(([files, known]) => {
    const { unfed, canFlag } = fedBy(policy, known);
    if (unfed.length === 0) return [];
    const [first = '', ...others] = plainAll(files);
    const where = others.length === 0 ? first : `${first} and ${others.length} more`;
    const byInput = Map.groupBy(unfed, ({ missing }) => missing[0]);
    return [
      '',
      ...(canFlag ? [] : [`Under ${policy.name} nothing in ${where} can be judged STUCK or FAILING.`]),
      `Signals of ${policy.name} that cannot fire in ${where}:`,
      ...[...byInput].map(
        ([input, some]) =>
          `  no ${input === undefined ? '' : INPUTS[input]}: ${some.map(({ name }) => name).join(', ')}`,
      ),
    ];
  });
