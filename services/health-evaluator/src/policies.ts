import { type Policies, policiesOf, VOCABULARY } from '@vigil/health';
import { PRESETS, readPolicies } from '@vigil/policy';
import { Refused } from '@vigil/stream';

/** The presets and those of `directory`. Throws Refused with every mistake: starting again would change nothing. */
export function loadPolicies(directory: string | undefined, defaultName: string): Policies {
  try {
    const directories = directory === undefined ? [PRESETS] : [PRESETS, directory];
    return policiesOf(readPolicies(directories, VOCABULARY), defaultName);
  } catch (error) {
    throw new Refused(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
