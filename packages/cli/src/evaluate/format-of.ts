import { type Adapter, adapterOfEntry } from '@vigil/adapters';
import { CorrectTheRun, isTrajectory } from '@vigil/health';
import { FORMATS } from './formats.ts';

/** A line of a file, from 1. */
export type Line = { readonly number: number; readonly text: string };
export type Entry = Readonly<Record<string, unknown>>;

/** What a file holds. */
export type Format =
  | { readonly kind: 'runs' }
  | { readonly kind: 'trajectories' }
  | { readonly kind: 'session'; readonly adapter: Adapter };

/** A text as a JSON object. Throws CorrectTheRun. */
export function entryOf(text: string): Entry {
  const parsed = parsedOf(text);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Entry;
  throw new CorrectTheRun(`${shown(text)} is not a JSON object`);
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CorrectTheRun(`no JSON: ${(error as Error).message}`);
  }
}

/** The format that an entry shows; null: it shows none, as the first lines of a session may. */
export function formatOf(text: string): Format | null {
  const entry = objectOr(text);
  if (entry === null) return null;
  if ('run_id' in entry || 'calls' in entry) return { kind: 'runs' };
  if (isTrajectory(entry)) return { kind: 'trajectories' };
  const adapter = adapterOfEntry(entry);
  return adapter === undefined ? null : { kind: 'session', adapter };
}

function objectOr(text: string): Entry | null {
  try {
    return entryOf(text);
  } catch (error) {
    if (error instanceof CorrectTheRun) return null;
    throw error;
  }
}

const SHOWN = 100;
const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** The file has an unknown format. */
export const noFormat = (first: string): CorrectTheRun =>
  new CorrectTheRun(
    `the format is not known; it begins with ${shown(first)} - give ${FORMATS.join('; or ')}; or convert it to recorded runs`,
  );
