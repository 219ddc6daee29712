import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compile, loadPolicy } from './compile.ts';
import type { CompiledPolicy, Vocabulary } from './compiled.ts';
import { CorrectThePolicy } from './errors.ts';

/** Vigil's own policies: presets/*.yaml. */
export const PRESETS: string = path.resolve(import.meta.dirname, '../presets');

/** Every *.yaml of the directories, in order of name; the mistakes of all files in one message. A later file replaces an earlier one of its name. */
export function readPolicies(directories: readonly string[], vocabulary: Vocabulary): readonly CompiledPolicy[] {
  const found = new Map<string, CompiledPolicy>();
  const mistakes: string[] = [];
  for (const file of directories.flatMap(yamlFiles)) {
    try {
      const policy = loadPolicy(readFileSync(file, 'utf8'), path.basename(file), vocabulary);
      found.set(policy.name, policy);
    } catch (error) {
      if (!(error instanceof CorrectThePolicy)) throw error;
      mistakes.push(...error.mistakes.map((mistake) => `${file}: ${mistake}`));
    }
  }
  if (mistakes.length > 0) throw new CorrectThePolicy(directories.join(', '), mistakes);
  return [...found.values()];
}

/** The policy that a published document (canonical JSON) stands for. */
export function republished(document: string, vocabulary: Vocabulary): CompiledPolicy {
  return compile(JSON.parse(document), 'published policy', vocabulary);
}

function yamlFiles(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => path.join(directory, name));
}
