import { join } from 'node:path';
import { type DispatchEvent, dispatchLine, utc } from '../adapters/omniclaude.ts';
import type { Logger } from '../clock.ts';
import { appendTo, makeBelow } from './folder-below.ts';
import type { StateFiles } from './state-files.ts';

export const dayOf = (at: number): string => utc(at).slice(0, 10);

/** The file of a day. `at`: epoch milliseconds */
export const logOf = (folder: string, at: number): string => join(folder, `${dayOf(at)}.ndjson`);

/** Adds a line to the log of its day, in a folder below `root`. @throws as makeBelow and appendTo */
export const logLine = (root: string, folder: string, line: string, at: number): void => {
  makeBelow(root, folder);
  appendTo(logOf(folder, at), line);
};

/** Gives null where the work throws; the error is in the supervisor's log. */
export const orLogged = <T>({ logger }: { readonly logger: Logger }, what: string, work: () => T): T | null => {
  try {
    return work();
  } catch (error) {
    logger(what, { error: String(error) });
    return null;
  }
};

/** Adds a line of omniclaude's to the log of its day, where there is one; an error is in the supervisor's log. */
export const logDispatch = (
  deps: { readonly logger: Logger },
  { dispatchLog, root }: Pick<StateFiles, 'dispatchLog' | 'root'>,
  event: DispatchEvent,
  at: number,
): void => {
  if (dispatchLog === null) return;
  const line = dispatchLine(event, at);
  orLogged(deps, 'the dispatch log is not written', () => logLine(root ?? dispatchLog, dispatchLog, line, at));
};
