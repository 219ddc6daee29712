import { stripVTControlCharacters } from 'node:util';
import { OutputReader } from '../../packages/supervisor/src/output/output-reader.ts';
import { compilePatterns, defaultPatterns } from '../../packages/supervisor/src/output/patterns.ts';
import { report } from './support/report.ts';

/**
 * Measures the processor time that a supervisor needs for the output of one agent, in MiB a second of one core. For
 * comparison: Node's removal of terminal sequences alone.
 */
const RUNS = 7;
/** The size of one piece of output, characters: that of a pseudo-terminal. */
const PIECE = 4096;
const LEAST_MS = 300;

const logLine = (n: number): string =>
  `2026-11-25T12:00:${String(n % 60).padStart(2, '0')} INFO build step ${n}: compiled src/module-${n}.ts in ${n % 90} ms\r\n`;
const repeated = (line: string, characters: number): string => line.repeat(Math.ceil(characters / line.length));

const outputs: Readonly<Record<string, string>> = {
  yes: repeated('y\r\n', 65_536),
  'yes with blank lines': repeated('\r\n', 65_536),
  'a build log': Array.from({ length: 800 }, (_, n) => logLine(n)).join(''),
  '64 KiB of sequences without an end': repeated('\x1b]', 65_536),
  '64 KiB of titles': repeated('\x1b]0;a', 65_536),
};

/** MiB a second. */
const rateOf = (text: string, run: (text: string) => void): number => {
  const before = process.cpuUsage();
  let characters = 0;
  let spent = 0;
  while (spent < LEAST_MS * 1000) {
    run(text);
    characters += text.length;
    const { user, system } = process.cpuUsage(before);
    spent = user + system;
  }
  return characters / 1_048_576 / (spent / 1_000_000);
};

const readBy = (reader: OutputReader) => (text: string) => {
  for (let at = 0; at < text.length; at += PIECE) reader.write(text.slice(at, at + PIECE), at);
};

report(
  'output',
  Object.entries(outputs).map(([name, text]) => {
    const runs: number[] = [];
    const stripped: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push(rateOf(text, readBy(new OutputReader(compilePatterns(defaultPatterns), 0))));
      stripped.push(rateOf(text, stripVTControlCharacters));
    }
    return { name, unit: 'MiB/s', runs, reference: { name: 'stripVTControlCharacters', runs: stripped } };
  }),
);
