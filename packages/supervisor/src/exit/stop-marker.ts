import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How an end that a person requested at the command line is recorded. */
export const stoppedBy = (who: string): string => `stopped by ${who} with vigil stop`;

const fileOf = (dir: string, instanceId: string): string => join(dir, 'agents', `${instanceId}.stop`);

/** A signal has no sender. `vigil stop` writes this file before it signals a supervisor in the foreground. */
export const leaveStopMarker = (dir: string, instanceId: string, who: string): void =>
  writeFileSync(fileOf(dir, instanceId), who, { mode: 0o600 });

/** The person in the marker, which is removed; null: there is no marker. */
export const takeStopMarker = (dir: string, instanceId: string): string | null => {
  const path = fileOf(dir, instanceId);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  } finally {
    rmSync(path, { force: true });
  }
};
