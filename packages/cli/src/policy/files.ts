import { readFileSync } from 'node:fs';
import { VOCABULARY } from '@vigil/health';
import {
  type Checked,
  CorrectThePolicy,
  checkFiles,
  IMPORT_KINDS,
  importPolicy,
  PRESETS,
  readPolicies,
} from '@vigil/policy';
import { CannotAsk, Refusal } from '../errors.ts';
import { checkedLines } from '../render/policies.ts';
import { endUnwell, print, show } from '../terminal.ts';

type Json = { readonly json?: boolean };

/** Reads files. Throws CannotAsk where one is not there, Refusal with every mistake. `known`: policies that an assignment may name besides. */
export function readFiles(paths: readonly string[], known: readonly string[]): readonly Checked[] {
  return told(() => checkFiles(paths, VOCABULARY, known));
}

const presetNames = (): readonly string[] => readPolicies([PRESETS], VOCABULARY).map(({ name }) => name);

export function check(paths: readonly string[], { json }: Json): void {
  const known = presetNames();
  if (json !== true) {
    show(false, readFiles(paths, known), (files, view) => checkedLines(view, files));
    return;
  }
  const { files, mistakes } = collected(paths, known);
  const answer = files.map(({ file, name, hash, warnings }) => ({ file, name, hash, warnings }));
  show(true, { files: answer, mistakes }, () => []);
  if (mistakes.length > 0) endUnwell();
}

/** For programs, mistakes are part of the answer. */
function collected(paths: readonly string[], known: readonly string[]) {
  try {
    return { files: asking(() => checkFiles(paths, VOCABULARY, known)), mistakes: [] };
  } catch (error) {
    if (error instanceof CorrectThePolicy) return { files: [], mistakes: error.mistakes };
    throw error;
  }
}

export function importFile(kind: string, file: string, { json }: Json): void {
  const known = IMPORT_KINDS.find((one) => one === kind);
  if (known === undefined) throw new CannotAsk(`There is no importer ${kind}: give one of ${IMPORT_KINDS.join(', ')}.`);
  const { yaml, unmapped } = told(() => importPolicy(known, readFileSync(file, 'utf8'), file));
  if (json === true) show(true, { yaml, unmapped }, () => []);
  else print([yaml.trimEnd()]);
  for (const { path, why } of unmapped) process.stderr.write(`not taken over: ${path}: ${why}\n`);
}

function told<T>(read: () => T): T {
  try {
    return asking(read);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Refusal(error.message);
    throw error;
  }
}

/** A file that is not there is a question that cannot be asked. */
function asking<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw error;
    throw new CannotAsk(`${path} cannot be read (${code}): give a file or a directory that is there.`);
  }
}
