import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  CorrectTheRun,
  fedBy,
  inputsOfRun,
  inputsOfSession,
  type JudgedRun,
  type RecordedRun,
  runJudge,
  sessionJudge,
  VOCABULARY,
} from '@vigil/health';
import { type CompiledPolicy, CorrectThePolicy, loadPolicy, PRESETS, readPolicies } from '@vigil/policy';
import { hashes } from '@vigil/sdk/hashes';
import { CannotProceed } from '../errors.ts';
import { jsonText, plain } from '../render/plain.ts';
import { endUnwell, print, untilStopped, view } from '../terminal.ts';
import { formatNamed } from './formats.ts';
import { DamagedGzip } from './gzip.ts';
import { loopAtEnd } from './loop.ts';
import { piecesOf, type Record } from './records.ts';
import { evaluatedLines, type Judgement, Tally } from './tally.ts';
import { FileInputs, unfedLines } from './unfed.ts';

type Options = {
  readonly policy: string;
  readonly gap: number;
  /** the name of a format; absent: recognized by the content */
  readonly format?: string;
  readonly json?: boolean;
};

/** Judges every run and session of every file. What cannot be read is reported on standard error, and the rest is judged. */
export const evaluateFiles = async (
  files: readonly string[],
  { policy, gap, format: name, json }: Options,
): Promise<void> => {
  const format = name === undefined ? null : formatNamed(name);
  const compiled = policyCalled(policy);
  const judge = judgeOf(compiled, gap);
  const stop = untilStopped();
  const tally = new Tally();
  const inputs = new FileInputs();
  const progress = progressOn(process.stderr);
  const seen = new Map<string, string>();
  const [complain, complained] = complaints();
  const readable = readableWith(complain);
  for (const file of files) {
    if (stop.aborted) break;
    await readable(file, async () => {
      for await (const { where, read } of piecesOf(file, { format, gap })) {
        if (stop.aborted) break;
        await readable(where, async () => {
          for (const judgement of read().flatMap(judge)) {
            const before = seen.get(judgement.run_id);
            seen.set(judgement.run_id, before ?? where);
            if (before !== undefined) complain(where, `the run_id ${judgement.run_id} came before, at ${before}`);
            inputs.add(file, judgement.inputs);
            if (json) await printJudged(judgement, where);
            else tally.add(judgement);
            progress.step();
          }
        });
      }
    });
    if (json) await printFed(file, compiled, inputs);
  }
  progress.end();
  complained();
  if (!json) print([...evaluatedLines(view(), tally), ...unfedLines(compiled, inputs)]);
};

/** Judges a run, or each agent of a session. */
export const judgeOf = (policy: CompiledPolicy, gap: number): ((record: Record) => readonly Judgement[]) => {
  const [judgeRun, judgeSession] = [runJudge(policy, hashes, gap), sessionJudge(policy)];
  return (record) => {
    if (record.kind === 'run') return [judgementOf(record.run, judgeRun(record.run))];
    return judgeSession(record).map(({ agent, calls, judged }) => ({
      run_id: agent,
      src: record.client,
      success: null,
      label: null,
      calls,
      loopBy: () => null,
      inputs: inputsOfSession(
        record.reports.filter((report) => report.agent === agent).map(({ fields }) => fields),
        record.isTimed,
      ),
      judged,
    }));
  };
};

const judgementOf = (run: RecordedRun, judged: JudgedRun): Judgement => ({
  ...run,
  calls: run.calls.length,
  loopBy: (call) => loopAtEnd(run.calls.slice(0, call)),
  inputs: inputsOfRun(run),
  judged,
});

/** The number of complaints that are printed; the rest are counted. */
const PRINTED = 10;

/** Prints what is wrong on standard error; the second function prints the count of the rest. */
const complaints = (): readonly [complain: (where: string, what: string) => void, end: () => void] => {
  let count = 0;
  const complain = (where: string, what: string): void => {
    count += 1;
    if (count <= PRINTED) process.stderr.write(`vigil: ${plain(`${where}: ${what}`)}\n`);
  };
  const end = (): void => {
    if (count > PRINTED) process.stderr.write(`vigil: and ${count - PRINTED} more like these\n`);
  };
  return [complain, end];
};

/** Reports what cannot be read, and sets the exit code. */
const readableWith =
  (complain: (where: string, what: string) => void) =>
  async (where: string, read: () => Promise<void>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof CorrectTheRun || error instanceof DamagedGzip || isOfTheSystem(error))) throw error;
      complain(where, describe(error));
      endUnwell();
    }
  };

const isFolder = (error: Error): boolean => 'code' in error && error.code === 'EISDIR';
const describe = (error: Error): string => (isFolder(error) ? 'it is a folder: name the files in it' : error.message);

/** No such file, or no right to read it. */
const isOfTheSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);

/** `where`: the file, and the line where a line is a run. */
const printJudged = ({ run_id, judged: { worst, changes } }: Judgement, where: string): Promise<void> => {
  const [, file = where, line] = /^(.*):(\d+)$/s.exec(where) ?? [];
  return printJson({ run_id, worst, changes, file, line: line === undefined ? null : Number(line) });
};

/** After the runs of a file: the signals that it cannot feed. */
const printFed = async (file: string, policy: CompiledPolicy, inputs: FileInputs): Promise<void> => {
  const known = inputs.of(file);
  if (known === null) return;
  const { unfed, canFlag } = fedBy(policy, known);
  const signals = unfed.map(({ name, missing }) => ({ signal: name, missing }));
  await printJson({ file, policy: policy.name, can_flag: canFlag, unfed: signals });
};

const printJson = async (value: object): Promise<void> => {
  if (process.stdout.write(`${jsonText(value, 0)}\n`)) return;
  // A reader that has gone causes an error instead of a drain event. It ends the evaluation.
  await once(process.stdout, 'drain').catch(() => undefined);
};

const EVERY = 500;

/** Shows the number of evaluated runs on a terminal. */
const progressOn = (out: NodeJS.WriteStream): { readonly step: () => void; readonly end: () => void } => {
  if (!out.isTTY) return { step: () => {}, end: () => {} };
  let runs = 0;
  return {
    step: () => {
      runs += 1;
      if (runs % EVERY === 0) out.write(`\r${runs} runs`);
    },
    end: () => void out.write('\r\u001b[K'),
  };
};

/** The preset of that name, or the policy in that file. Throws CannotProceed. */
export const policyCalled = (nameOrPath: string): CompiledPolicy => {
  const presets = readPolicies([PRESETS], VOCABULARY);
  const preset = presets.find(({ name }) => name === nameOrPath);
  if (preset) return preset;
  if (!existsSync(nameOrPath))
    throw new CannotProceed(
      `${JSON.stringify(nameOrPath)} is neither a preset nor a file: give one of ${presets.map(({ name }) => name).join(', ')}, or the path of a policy.`,
    );
  const text = textOf(nameOrPath);
  try {
    return loadPolicy(text, path.basename(nameOrPath), VOCABULARY);
  } catch (error) {
    throw error instanceof CorrectThePolicy ? new CannotProceed(error.message) : error;
  }
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const why = isFolder(error as Error) ? 'is a folder' : `cannot be read (${(error as Error).message})`;
    throw new CannotProceed(`${JSON.stringify(file)} ${why}: give a preset's name, or the path of a policy.`);
  }
};
