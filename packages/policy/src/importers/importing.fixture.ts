import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { CorrectThePolicy } from '../errors.ts';
import { PRESETS } from '../files.ts';
import { type ImportKind, importPolicy } from './importers.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document as it is parsed
type Document = any;

/** A preset's document, as parsed. */
export const preset = (name: string): Document => parse(readFileSync(path.join(PRESETS, `${name}.yaml`), 'utf8'));
/** What a source's text gives, as parsed. */
export const policyOf = (kind: ImportKind, text: string): Document => parse(importPolicy(kind, text, 'theirs').yaml);
export const unmappedOf = (kind: ImportKind, text: string): readonly string[] =>
  importPolicy(kind, text, 'theirs').unmapped.map(({ path }) => path);

export function mistakesIn(kind: ImportKind, text: string): readonly string[] {
  try {
    importPolicy(kind, text, 'theirs');
    return [];
  } catch (error) {
    if (error instanceof CorrectThePolicy) return error.mistakes;
    throw error;
  }
}

/** What the plan for `when` does. */
export const steps = (policy: Document, when: string): readonly Document[] =>
  policy.plans.find((plan: Document) => plan.when === when).do;
