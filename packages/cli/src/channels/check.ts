import { CorrectTheChannels, checkSecrets, readChannels } from '@vigil/policy/channels';
import { CannotProceed, Refusal } from '../errors.ts';
import { textOf } from '../read-file.ts';
import { type CheckedChannels, checkedChannelsLines } from '../render/fleet/alerts.ts';
import { endUnwell, type Json, show } from '../terminal.ts';

/** Checks a file as alerting reads it at its start. `file` undefined: that of VIGIL_ALERTS_FILE. */
export const check = (file: string | undefined, { json }: Json): void => {
  const path = file ?? process.env.VIGIL_ALERTS_FILE;
  if (path === undefined || path === '')
    throw new CannotProceed('No file is given, and VIGIL_ALERTS_FILE is not set: vigil alert check alerts.yaml');
  const checked = checkedIn(path);
  if (json !== true && checked.mistakes.length > 0)
    throw new Refusal(new CorrectTheChannels(path, checked.mistakes).message);
  show(json, checked, (answer, view) => checkedChannelsLines(view, answer));
  if (checked.mistakes.length > 0) endUnwell();
};

const checkedIn = (file: string): CheckedChannels => {
  const text = textOf(file);
  try {
    const { defaults, channels } = readChannels(text, file);
    const { mistakes, away } = checkSecrets({ channels }, process.env);
    const named = Object.entries(channels).map(([name, { kind }]) => ({ name, kind }));
    return { file, default: defaults, channels: named, mistakes, warnings: away };
  } catch (error) {
    if (!(error instanceof CorrectTheChannels)) throw error;
    return { file, default: [], channels: [], mistakes: error.mistakes, warnings: [] };
  }
};
