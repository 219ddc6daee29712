import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CorrectThePolicy, PRESETS, type Vocabulary } from '@vigil/policy';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Imported, type ImportKind, importPolicy } from './importers.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document as it is parsed
type Document = any;

/** A preset's document, as parsed. */
export const preset = (name: string): Document => parse(readFileSync(path.join(PRESETS, `${name}.yaml`), 'utf8'));
/** The vocabulary of a source's preset, with only one kind of limits. */
const vocabularyOf = (kind: ImportKind): Vocabulary => {
  const { signals, exemptions = {} } = preset(kind === 'adr-110' ? 'coditect' : kind);
  const limits = z.looseObject({ times: z.int().min(2).optional() });
  const used = Object.entries<{ readonly is?: string } | null>(signals).map(([name, use]) => use?.is ?? name);
  return {
    signals: Object.fromEntries(used.map((name) => [name, { axis: 'fact', limits }])),
    exemptions: Object.fromEntries([...Object.keys(exemptions), 'rate_limited'].map((name) => [name, { limits }])),
  };
};

export const imported = (kind: ImportKind, text: string, source = 'theirs'): Imported =>
  importPolicy(kind, text, source, vocabularyOf(kind));
/** The policy of a source's text, as parsed. */
export const policyOf = (kind: ImportKind, text: string): Document => parse(imported(kind, text).yaml);
export const unmappedOf = (kind: ImportKind, text: string): readonly string[] =>
  imported(kind, text).unmapped.map(({ path }) => path);

export const mistakesIn = (kind: ImportKind, text: string): readonly string[] => {
  try {
    imported(kind, text);
    return [];
  } catch (error) {
    if (error instanceof CorrectThePolicy) return error.mistakes;
    throw error;
  }
};

/** The steps of the plan for `when`. */
export const steps = (policy: Document, when: string): readonly Document[] =>
  policy.plans.find((plan: Document) => plan.when === when).do;
