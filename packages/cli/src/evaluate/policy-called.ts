import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { VOCABULARY } from '@vigil/health';
import { type CompiledPolicy, CorrectThePolicy, loadPolicy, PRESETS, readPolicies } from '@vigil/policy';
import { CannotProceed } from '../errors.ts';

/** The preset of that name, or the policy in that file. Throws CannotAsk. */
export function policyCalled(nameOrPath: string): CompiledPolicy {
  const presets = readPolicies([PRESETS], VOCABULARY);
  const preset = presets.find(({ name }) => name === nameOrPath);
  if (preset) return preset;
  if (!existsSync(nameOrPath))
    throw new CannotProceed(
      `${JSON.stringify(nameOrPath)} is neither a preset nor a file: give one of ${presets.map(({ name }) => name).join(', ')}, or the path of a policy.`,
    );
  const text = textOf(nameOrPath);
  try {
    return loadPolicy(text, path.basename(nameOrPath), VOCABULARY);
  } catch (error) {
    throw error instanceof CorrectThePolicy ? new CannotProceed(error.message) : error;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CannotProceed(
      `${JSON.stringify(file)} cannot be read (${(error as Error).message}): give a preset's name, or the path of a policy.`,
    );
  }
}
