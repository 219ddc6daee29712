import type { Log } from '@vigil/supervisor';

/** Writes a line, and calls `failed` where that was not possible. */
export type WriteLine = (text: string, failed: () => void) => void;

/**
 * A log that never ends the process. Lines that a full disk or a closed pipe does not accept are counted, and the
 * next written line has the number of missing ones.
 * `format`: one line, with its newline.
 */
export const survivingLog = (
  write: WriteLine,
  format: (message: string, fields: Readonly<Record<string, unknown>>) => string,
): Log => {
  let missing = 0;
  return (message, fields = {}) => {
    const before = missing;
    missing = 0;
    const text = format(message, before === 0 ? fields : { ...fields, missingBefore: before });
    write(text, () => {
      missing += before + 1;
    });
  };
};
