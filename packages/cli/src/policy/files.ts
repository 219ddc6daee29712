import { VOCABULARY } from '@vigil/health';
import { IMPORT_KINDS, type ImportKind, importPolicy, MIGRATIONS } from '@vigil/importers';
import { type Checked, CorrectThePolicy, checkFiles, presetNames } from '@vigil/policy';
import { CannotProceed, Refusal } from '../errors.ts';
import { textOf } from '../read-file.ts';
import { checkedLines } from '../render/fleet/policies.ts';
import { replaceFile } from '../replace-file.ts';
import { endUnwell, type Json, print, show } from '../terminal.ts';

/** Reads files. Throws CannotProceed where one is not there, Refusal with every mistake. `known`: policies that an assignment may name besides. */
export const readFiles = (paths: readonly string[], known: readonly string[]): readonly Checked[] =>
  withRefusals(() => checkFiles(paths, VOCABULARY, known));

export const check = (paths: readonly string[], { json }: Json): void => {
  const known = presetNames();
  if (json !== true) {
    show(false, readFiles(paths, known), (files, view) => checkedLines(view, files));
    return;
  }
  const { files, mistakes } = collected(paths, known);
  const answer = files.map(({ file, name, hash, warnings }) => ({ file, name, hash, warnings }));
  show(true, { files: answer, mistakes }, () => []);
  if (mistakes.length > 0) endUnwell();
};

/** For programs, mistakes are part of the answer. */
const collected = (paths: readonly string[], known: readonly string[]) => {
  try {
    return { files: withMissingFiles(() => checkFiles(paths, VOCABULARY, known)), mistakes: [] };
  } catch (error) {
    if (error instanceof CorrectThePolicy) return { files: [], mistakes: error.mistakes };
    throw error;
  }
};

type Import = Json & { readonly migrate?: boolean; readonly write?: boolean };

export const importFile = (kind: string, file: string, options: Import): void => {
  const { json, migrate, write } = options;
  const known = IMPORT_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new CannotProceed(`${JSON.stringify(kind)} is not an importer; use one of ${IMPORT_KINDS.join(', ')}`);
  if (migrate === true) {
    migrated(known, file, options);
    return;
  }
  if (write === true)
    throw new CannotProceed('--write requires --migrate. To save an imported policy, redirect the output to a file.');
  const { yaml, unmapped } = withRefusals(() => importPolicy(known, textOf(file), file, VOCABULARY));
  if (json === true) show(true, { yaml, unmapped }, () => []);
  else print([yaml.trimEnd()]);
  for (const { path, why } of unmapped) process.stderr.write(`not taken over: ${path}: ${why}\n`);
};

/** Prints the migrated file, or writes it; an unchanged file is not written. */
const migrated = (kind: ImportKind, file: string, { json, write }: Import): void => {
  const { [kind]: migrate } = MIGRATIONS;
  if (migrate === undefined)
    throw new CannotProceed(
      `--migrate does not apply to a file of ${kind}; use it with one of ${Object.keys(MIGRATIONS).join(', ')}`,
    );
  const { before, after } = withRefusals(() => {
    const text = textOf(file);
    return { before: text, after: migrate(text, file) };
  });
  const changed = after !== before;
  if (write !== true && json !== true) {
    process.stdout.write(after);
    return;
  }
  if (write === true && changed) replaceFile(file, after);
  show(json, { file, changed, written: write === true && changed, text: after }, (result) => [
    result.changed
      ? `${result.file} has the defaults of agents.health now.`
      : `${result.file} has agents.health already.`,
  ]);
};

const withRefusals = <T>(read: () => T): T => {
  try {
    return withMissingFiles(read);
  } catch (error) {
    if (error instanceof CorrectThePolicy) throw new Refusal(error.message);
    throw error;
  }
};

/** A file that is not there is a question that cannot be asked. */
const withMissingFiles = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined || path === undefined) throw error;
    throw new CannotProceed(`${path} cannot be read (${code}): give a file or directory that exists.`);
  }
};
