import { createHash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { RE2JS } from 're2js';
import { OutputReader } from '../../packages/supervisor/src/output/output-reader.ts';
import { compilePatterns, defaultPatterns } from '../../packages/supervisor/src/output/patterns.ts';
import { RUNS } from './support/ground.ts';
import { type Figure, print, report } from './support/report.ts';

/**
 * Measures the time that 64 KiB of an agent's output takes of the supervisor's thread, which all agents of the host
 * share. For comparison, in turns: Node's removal of terminal sequences, and each pattern on each line.
 */
const PIECE = 4096;
const SIZE = 65_536;

const repeated = (text: string): string => text.repeat(Math.ceil(SIZE / text.length)).slice(0, SIZE);
const buildLog = Array.from(
  { length: 1000 },
  (_, n) => `[12:00:00] compiling module src/foo/bar${n}/baz.ts -> dist/foo/bar${n}/baz.js (${n} ms) ok\r\n`,
);
const OUTPUTS: Readonly<Record<string, string>> = {
  'yes ""': repeated('\r\n'),
  yes: repeated('y\r\n'),
  'a build log': buildLog.join('').slice(0, SIZE),
  'lines of 8 KiB of ESC ]': repeated(`${'\u001b]'.repeat(4095)}\r\n`),
};

const alone = [...defaultPatterns.rate_limit, ...defaultPatterns.error, ...defaultPatterns.completion];
const compiled = [...alone, ...defaultPatterns.error].map((source) => RE2JS.compile(source, RE2JS.CASE_INSENSITIVE));

/** A line as the supervisor has read it until 2026-11-25, without its rings of last lines. */
const readAlone = (line: string): void => {
  const text = stripVTControlCharacters(line.replace(/\r$/, ''));
  const isError = compiled.filter((one) => one.matcher(text).find()).length > 0;
  if (isError) createHash('sha256').update(text).digest('hex');
};

const inPieces = (text: string, read: (piece: string) => void): void => {
  for (let from = 0; from < text.length; from += PIECE) read(text.slice(from, from + PIECE));
};

/** Milliseconds. */
const timed = (run: () => void): number => {
  const since = performance.now();
  run();
  return performance.now() - since;
};

const now = (text: string): number => {
  const reader = new OutputReader(compilePatterns(defaultPatterns), 0);
  return timed(() => inPieces(text, (piece) => void reader.write(piece, 0)));
};

const before = (text: string): number => {
  let cursor = '';
  return timed(() =>
    inPieces(text, (piece) => {
      const lines = (cursor + piece).split('\n');
      cursor = lines.pop() ?? '';
      lines.forEach(readAlone);
    }),
  );
};

const measured = ([name, text]: readonly [string, string]): Figure => {
  const [runs, reference]: [number[], number[]] = [[], []];
  [before(text), now(text)];
  for (let run = 0; run < RUNS; run += 1) {
    reference.push(before(text));
    runs.push(now(text));
  }
  print(name);
  return { name: `64 KiB of ${name}`, unit: 'ms', runs, reference: { name: 'line by line', runs: reference } };
};

report('output', Object.entries(OUTPUTS).map(measured));
