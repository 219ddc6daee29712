import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { exportSpan } from '@vigil/health/replay';
import manifest from '../../../../package.json' with { type: 'json' };
import { CannotProceed } from '../errors.ts';
import { show } from '../terminal.ts';
import { type SpanOptions, withSource } from './source.ts';

/** The size of one gzip member, characters. Each is written at once, so that no more is kept. */
const MEMBER = 1 << 20;

/** A new gzip file of lines, readable for its owner only. Throws CannotProceed if it exists or cannot be written. */
class GzipLines {
  readonly #file: number;
  #lines: string[] = [];
  #length = 0;

  constructor(path: string) {
    try {
      this.#file = openSync(path, 'wx', 0o600);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CannotProceed(
        code === 'EEXIST'
          ? `${path} exists, and is not overwritten: name another file (--out)`
          : `${path} cannot be written (${message}): name another file (--out)`,
      );
    }
  }

  readonly write = (line: string): void => {
    this.#lines.push(line);
    this.#length += line.length + 1;
    if (this.#length >= MEMBER) this.#flush();
  };

  close(): void {
    this.#flush();
    closeSync(this.#file);
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    writeSync(this.#file, gzipSync(`${this.#lines.join('\n')}\n`));
    this.#lines = [];
    this.#length = 0;
  }
}

type ExportOptions = SpanOptions & { readonly out: string };

/** Writes a span of the log into a new file. Throws CannotProceed. */
export const exportTo = async ({ out, ...options }: ExportOptions): Promise<void> => {
  const file = new GzipLines(out);
  try {
    const about = { version: manifest.version, exportedAt: Date.now() };
    const exported = await withSource(options, (source, signal) => exportSpan(source, about, file.write, signal));
    file.close();
    show(options.json, { file: out, ...exported }, ({ file: name, observations, decisions, agents }) => [
      `${name}: ${observations} observations of ${agents} agents, ${decisions} decisions.`,
      'It names agents, tasks, hosts, tools and files, and has error messages and lines of output: look at it before you pass it on.',
    ]);
  } catch (error) {
    rmSync(out, { force: true });
    throw error;
  }
};
