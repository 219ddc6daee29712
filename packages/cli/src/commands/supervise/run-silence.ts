import { type Adapter, adapters } from '@vigil/adapters';
import type { CommandLine, Place } from '@vigil/adapters/adapter';
import { Refusal } from '../../errors.ts';
import { installed } from '../../hook/settings.ts';
import { readSettings } from '../../hook/settings-file.ts';

/** A file that cannot be read has no hook for the client either. */
const hasHook = (file: string): boolean => {
  try {
    return installed(readSettings(file), file).events.length > 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};

const isHookInstalled = ({ install }: Adapter, place: Place): boolean => {
  const { project, user } = install.files(place);
  return hasHook(project) || hasHook(user);
};

/** The line for people about an agent that shows nothing while it works; null: it shows something. */
export const silenceNotice = (line: CommandLine, place: Place): string | null => {
  for (const adapter of adapters) {
    const invocation = adapter.invocation(line);
    if (invocation === null) continue;
    if (!invocation.headless || invocation.printsProgress || isHookInstalled(adapter, place)) return null;
    const { name, install, streamOptions } = adapter;
    return `${install.title} prints nothing while it works, and no hook reports it, so Vigil cannot see whether it hangs; run "vigil hook install --client ${name}", or add ${streamOptions}`;
  }
  return null;
};
