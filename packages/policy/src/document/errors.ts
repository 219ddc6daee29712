/** A policy that cannot be used: every mistake at once, each with its place and what to write instead. Fatal at start, refused on reload. */
export class CorrectThePolicy extends Error {
  override readonly name = 'CorrectThePolicy';
  readonly mistakes: readonly string[];
  constructor(source: string, mistakes: readonly string[]) {
    super(
      `${source} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((m) => `  - ${m}`).join('\n')}`,
    );
    this.mistakes = mistakes;
  }
}
