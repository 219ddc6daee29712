import { closeSync, openSync, rmSync } from 'node:fs';
import { exportSpan, GzipLines } from '@vigil/health/replay';
import manifest from '../../../../package.json' with { type: 'json' };
import { CannotProceed } from '../errors.ts';
import { show } from '../terminal.ts';
import { type SpanOptions, withSource } from './source.ts';

/** Creates a file that only its owner may read. Throws CannotProceed if it exists or cannot be written. */
const created = (path: string): number => {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CannotProceed(
      code === 'EEXIST'
        ? `${path} exists, and is not overwritten: name another file (--out)`
        : `${path} cannot be written (${message}): name another file (--out)`,
    );
  }
};

type ExportOptions = SpanOptions & { readonly out: string };

/** Writes a span of the log into a new file. Throws CannotProceed. */
export const exportTo = async ({ out, ...options }: ExportOptions): Promise<void> => {
  const file = created(out);
  const lines = new GzipLines(file);
  try {
    const about = { version: manifest.version, exportedAt: Date.now() };
    const exported = await withSource(options, (source, signal) => exportSpan(source, about, lines.write, signal));
    lines.flush();
    closeSync(file);
    show(options.json, { file: out, ...exported }, ({ file: name, observations, decisions, agents }) => [
      `${name}: ${observations} observations of ${agents} agents, ${decisions} decisions.`,
      'It names agents, tasks, hosts, tools and files, and has error messages and lines of output: look at it before you pass it on.',
    ]);
  } catch (error) {
    rmSync(out, { force: true });
    throw error;
  }
};
