import { once } from 'node:events';
import { CorrectTheRun, type JudgedRun, type RecordedRun, readRun, runJudge } from '@vigil/health';
import { hashes } from '@vigil/sdk/hashes';
import { evaluatedLines } from '../render/evaluate.ts';
import { jsonText, plain, plainAll } from '../render/plain.ts';
import { endUnwell, print, untilStopped, view } from '../terminal.ts';
import { linesOf } from './lines.ts';
import { policyCalled } from './policy-called.ts';
import { Tally } from './tally.ts';

type Options = { readonly policy: string; readonly gap: number; readonly json?: boolean };
type Told = (run: RecordedRun, judged: JudgedRun) => Promise<void> | void;

/** Judges every run of every file. What cannot be read is said on standard error, and the rest goes on. */
export async function evaluateFiles(files: readonly string[], { policy, gap, json }: Options): Promise<void> {
  const judge = runJudge(policyCalled(policy), hashes, gap);
  const stop = untilStopped();
  const tally = new Tally();
  const progress = progressOn(process.stderr);
  const tell: Told = json ? printJudged : (run, judged) => tally.add(run, judged);
  for (const file of files) {
    if (stop.aborted) break;
    await readable(file, async () => {
      for await (const { number, text } of linesOf(file)) {
        if (stop.aborted) break;
        await readable(`${file}:${number}`, async () => {
          const run = readRun(text);
          await tell(run, judge(run));
        });
        progress.step();
      }
    });
  }
  progress.end();
  if (!json) print(evaluatedLines(view(), plainTally(tally)));
}

/** Says what cannot be read there, and that all is not well. */
async function readable(where: string, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof CorrectTheRun || isOfTheSystem(error))) throw error;
    process.stderr.write(`vigil: ${plain(`${where}: ${error.message}`)}\n`);
    endUnwell();
  }
}

/** No such file, no right to read it, or bytes that are no gzip. */
const isOfTheSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(E[A-Z]+|Z_[A-Z_]+)$/.test(error.code);

async function printJudged({ run_id }: RecordedRun, { worst, changes }: JudgedRun): Promise<void> {
  if (process.stdout.write(`${jsonText({ run_id, worst, changes }, 0)}\n`)) return;
  // Where nobody reads any more there is no drain but an error, which stops the whole.
  await once(process.stdout, 'drain').catch(() => undefined);
}

/** Names that a recorded file gives do not steer the terminal. */
function plainTally(tally: Tally): Tally {
  const plainly = new Tally();
  for (const [name, source] of tally.sources) plainly.sources.set(plain(name), source);
  plainly.flagged.push(...plainAll(tally.flagged));
  plainly.missed.push(...plainAll(tally.missed));
  return plainly;
}

const EVERY = 500;

/** How many runs have been judged, for whoever looks at a terminal. */
function progressOn(out: NodeJS.WriteStream): { readonly step: () => void; readonly end: () => void } {
  if (!out.isTTY) return { step: () => {}, end: () => {} };
  let runs = 0;
  return {
    step: () => {
      runs += 1;
      if (runs % EVERY === 0) out.write(`\r${runs} runs`);
    },
    end: () => void out.write('\r\u001b[K'),
  };
}
