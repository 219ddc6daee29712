import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import {
  type Adapter,
  adapterNamed,
  adapterOfEntry,
  adapterOfPrinted,
  isAnswer,
  mayBeAnswer,
  type PrintedSession,
  plainTraitsOf,
  printedSessions,
  type RecordedReport,
  type RecordedSession,
  recordedSession,
} from '@vigil/adapters';
import { type Export, exportedSessions, isExport, readExport } from '@vigil/adapters/exported';
import { asId, subagentId } from '@vigil/adapters/names';
import {
  CorrectTheRun,
  isTrajectory,
  type RecordedRun,
  readRun,
  readTrajectory,
  type SessionReport,
  type SessionReports,
} from '@vigil/health';
import { z } from 'zod';
import { FORMATS, type Format } from './formats.ts';
import { DamagedGzip } from './gzip.ts';
import { type Line, linesOf } from './lines.ts';

type Entry = { readonly [name: string]: unknown };

/** A text as a JSON object. Throws CorrectTheRun. */
export const entryOf = (text: string): Entry => {
  const parsed = parsedOf(text);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Entry;
  throw new CorrectTheRun(`${shown(text)} is not a JSON object`);
};

const parsedOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CorrectTheRun(`no JSON: ${(error as Error).message}`);
  }
};

/** The format that an entry shows; null: it shows none, as the first lines of a session may. */
export const formatOf = (text: string): Format | null => {
  const entry = objectOr(text);
  if (entry === null) return null;
  if ('run_id' in entry || 'calls' in entry) return { kind: 'runs' };
  if (isTrajectory(entry)) return { kind: 'trajectories' };
  if (isExport(entry)) return { kind: 'telemetry' };
  const adapter = adapterOfEntry(entry);
  if (adapter !== undefined) return { kind: 'session', adapter };
  const printing = adapterOfPrinted(entry);
  return printing === undefined ? null : { kind: 'stream', adapter: printing };
};

const objectOr = (text: string): Entry | null => {
  try {
    return entryOf(text);
  } catch (error) {
    if (error instanceof CorrectTheRun) return null;
    throw error;
  }
};

const SHOWN = 100;
const shown = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** The file has an unknown format. */
export const noFormat = (first: string): CorrectTheRun =>
  new CorrectTheRun(
    `the format is not known; it begins with ${shown(first)} - give ${FORMATS.join('; or ')}; or convert it to recorded runs`,
  );

/** A run with its calls, or a session with what its agents would have reported. */
export type Record =
  | { readonly kind: 'run'; readonly run: RecordedRun }
  | ({ readonly kind: 'session'; readonly client: string } & SessionReports);

/** A piece of a file that is read by itself. `read` throws CorrectTheRun. */
export type Piece = { readonly where: string; readonly read: () => readonly Record[] };

/** `format`: null to recognize it by the content; `gap`: milliseconds from call to call where no times are recorded. */
export type Reading = { readonly format: Format | null; readonly gap: number };

/** Lines that may come before the first one that shows the format. */
const LOOKED_AT = 50;

/**
 * The records of a file, whose content shows its format. Throws CorrectTheRun if the format is unknown, and DamagedGzip
 * after the pieces before the damage.
 */
export async function* piecesOf(file: string, { format: forced, gap }: Reading): AsyncGenerator<Piece> {
  const lines = linesOf(file);
  const head: Line[] = [];
  let format = forced;
  while (format === null && head.length < LOOKED_AT) {
    const { value, done } = await lines.next();
    if (done) break;
    head.push(value);
    format = formatOf(value.text);
  }
  const all = (async function* () {
    yield* head;
    yield* lines;
  })();
  if (forced === null && format !== null && isByLine(format)) return yield* apart(file, format, all);
  const { lines: read, damage } = await listed(all);
  if (format === null && damage !== null) throw damage;
  if (format === null || (isByLine(format) && isDocument(read))) yield* document(file, read, format);
  else if (isByLine(format)) yield* apart(file, format, read);
  else if (format.kind === 'session') yield* session(file, format.adapter, read);
  else if (format.kind === 'telemetry') yield* exported(file, isDocument(read) ? [wholeOf(read)] : read);
  else yield* printed(file, format.adapter, read, gap);
  if (damage !== null) throw damage;
}

/** Whether the first line is only the beginning of a JSON document. */
const isDocument = ([first]: readonly Line[]): boolean => first !== undefined && objectOr(first.text) === null;

type Listed = { readonly lines: readonly Line[]; readonly damage: DamagedGzip | null };

/** All lines up to the damage of the file. */
const listed = async (lines: AsyncIterable<Line>): Promise<Listed> => {
  const list: Line[] = [];
  try {
    for await (const line of lines) list.push(line);
  } catch (error) {
    if (error instanceof DamagedGzip) return { lines: list, damage: error };
    throw error;
  }
  return { lines: list, damage: null };
};

/** Throws CorrectTheRun if a line was not UTF-8: results that differ in replaced bytes would look the same. */
const requireUtf8 = (lines: readonly Line[]): void => {
  const wrong = lines.find((line) => !line.isUtf8);
  if (wrong === undefined) return;
  const before = wrong.text.slice(0, wrong.text.indexOf('\uFFFD')).slice(-SHOWN_BEFORE);
  throw new CorrectTheRun(`bytes that are not UTF-8 follow ${JSON.stringify(before)}: convert the file to UTF-8`);
};
const SHOWN_BEFORE = 30;

type ByLine = Extract<Format, { readonly kind: 'runs' | 'trajectories' }>;

const isByLine = (format: Format): format is ByLine => format.kind === 'runs' || format.kind === 'trajectories';
const readerOf = ({ kind }: ByLine) => (kind === 'runs' ? oneRun : trajectories);

async function* apart(
  file: string,
  format: ByLine,
  lines: AsyncIterable<Line> | Iterable<Line>,
): AsyncGenerator<Piece> {
  const read = readerOf(format);
  for await (const line of lines)
    yield {
      where: `${file}:${line.number}`,
      read: () => {
        requireUtf8([line]);
        return read(line.text);
      },
    };
}

/** One JSON document over many lines, or a list of such runs. `forced`: null to recognize the format. */
async function* document(file: string, lines: readonly Line[], forced: Format | null): AsyncGenerator<Piece> {
  const [first] = lines;
  if (first === undefined) return;
  requireUtf8(lines);
  const text = lines.map((line) => line.text).join('\n');
  const listed = runsIn(text);
  for (const [i, run] of (listed ?? []).entries()) yield { where: `${file}[${i}]`, read: () => oneRun(run) };
  if (listed !== null) return;
  const format = forced ?? formatOf(text);
  if (format === null || format.kind === 'stream') throw noFormat(first.text);
  if (format.kind === 'session') yield* session(file, format.adapter, [wholeOf(lines)]);
  else if (format.kind === 'telemetry') yield* exported(file, [wholeOf(lines)]);
  else yield { where: file, read: () => readerOf(format)(text) };
}

/** A document over many lines as one. */
const wholeOf = (lines: readonly Line[]): Line => ({
  number: 1,
  text: lines.map(({ text }) => text).join('\n'),
  isUtf8: lines.every(({ isUtf8 }) => isUtf8),
});

/** The texts of the runs in a list of runs; null: it is not such a list. */
const runsIn = (text: string): readonly string[] | null => {
  if (!text.startsWith('[')) return null;
  const list = parsedOr(text);
  if (!Array.isArray(list) || list.length === 0) return null;
  const texts = list.map((one) => JSON.stringify(one));
  return formatOf(texts[0] ?? '')?.kind === 'runs' ? texts : null;
};

const parsedOr = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const oneRun = (text: string): readonly Record[] => [{ kind: 'run', run: withTraits(readRun(text)) }];

const trajectories = (text: string): readonly Record[] =>
  readTrajectory(entryOf(text)).map((run) => ({ kind: 'run', run: withTraits(run) }));

/** The traits of calls that the record does not state: those of the tools of its client, or of a shell. */
const withTraits = (run: RecordedRun): RecordedRun => {
  const traitsOf = adapterNamed(run.src ?? '')?.traitsOf ?? plainTraitsOf;
  const calls = run.calls.map((call) => {
    const traits = traitsOf(call.tool, call.args);
    const checking = call.checking ?? traits.checking;
    return {
      ...call,
      ...(!checking && answers(call) && { err: false, outcome: 'ok' as const, error_class: null }),
      mutating: call.mutating ?? traits.mutating,
      polling: call.polling ?? traits.polling,
      checking,
      target: call.target ?? traits.target,
    };
  });
  return { ...run, calls };
};

/** Whether a failed call of a record is a wanted answer, such as that of `grep` without a match. */
const answers = ({ outcome, err, error_class: errorClass, args, result }: RecordedRun['calls'][number]): boolean => {
  if (outcome !== 'error' && !(outcome === null && err === true)) return false;
  return errorClass === null ? mayBeAnswer(args, result) : isAnswer(args, errorClass);
};

/** A line that is damaged is named and left out. */
async function* session(file: string, adapter: Adapter, lines: readonly Line[]): AsyncGenerator<Piece> {
  const files = [{ file, lines }];
  for (const one of subagentFiles(file, adapter)) {
    const { lines: read, damage } = await listed(linesOf(one));
    files.push({ file: one, lines: read });
    if (damage !== null) yield { where: one, read: () => failing(damage) };
  }
  for (const one of files)
    for (const line of one.lines) yield { where: `${one.file}:${line.number}`, read: () => checked(line) };
  const texts = files.map((one) => one.lines.filter((line) => line.isUtf8).map(({ text }) => text));
  yield { where: file, read: () => [sessionOf(file, adapter, texts)] };
}

const failing = (error: Error): never => {
  throw error;
};

/** Nothing by itself. Throws CorrectTheRun if the line is not an entry. */
const checked = (line: Line): readonly Record[] => {
  requireUtf8([line]);
  entryOf(line.text);
  return [];
};

const subagentFiles = (file: string, adapter: Adapter): readonly string[] => {
  const folder = adapter.sessionFile.subagentsOf(file);
  if (folder === null || !existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => path.join(folder, name));
};

const sessionOf = (file: string, adapter: Adapter, files: readonly (readonly string[])[]): Record => {
  const recorded = recordedSession(adapter, files);
  const id = asId(recorded.id ?? path.basename(file));
  const reports = recorded.reports.map((report) => reportOf(id, report));
  const active = new Set(reports.filter(({ fields }) => fields.turn != null).map(({ agent }) => agent));
  if (active.size === 0)
    throw new CorrectTheRun(`nothing in this session of ${adapter.install.title} has a time and can be judged`);
  return {
    kind: 'session',
    id,
    client: adapter.name,
    isTimed: true,
    // The file of a sub-agent alone does not name its parent.
    reports: reports.filter(({ agent }) => active.has(agent)),
    finished: finishedIn(id, recorded).filter((agent) => active.has(agent)),
  };
};

/** The output of a client. A line that is damaged is named and left out. */
async function* printed(file: string, adapter: Adapter, lines: readonly Line[], gap: number): AsyncGenerator<Piece> {
  for (const line of lines) yield { where: `${file}:${line.number}`, read: () => checked(line) };
  const texts = lines.filter((line) => line.isUtf8).map(({ text }) => text);
  yield {
    where: file,
    read: () => printedSessions(adapter, texts, gap).map((one) => printedOf(file, adapter.name, one)),
  };
}

/** Export requests. One that is damaged is named and left out. */
async function* exported(file: string, lines: readonly Line[]): AsyncGenerator<Piece> {
  const exports: Export[] = [];
  const add = (line: Line): readonly Record[] => {
    requireUtf8([line]);
    exports.push(exportIn(entryOf(line.text)));
    return [];
  };
  for (const line of lines) yield { where: `${file}:${line.number}`, read: () => add(line) };
  yield {
    where: file,
    read: () => {
      const sessions = exportedSessions(exports).filter(({ reports }) => reports.length > 0);
      if (sessions.length === 0) throw new CorrectTheRun('nothing in this telemetry is of an agent: give gen_ai spans');
      return sessions.map(({ client, ...one }) => printedOf(file, client, { ...one, isTimed: true }));
    },
  };
}

const exportIn = (entry: Entry): Export => {
  try {
    return readExport(entry);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    throw new CorrectTheRun(`not an export request: ${issue?.path.join('.')}: ${issue?.message}`);
  }
};

const printedOf = (file: string, client: string, printed: PrintedSession): Record => {
  const { id: known, reports, isTimed } = printed;
  const id = asId(known ?? path.basename(file));
  const finished = finishedIn(id, printed);
  return { kind: 'session', id, client, isTimed, reports: reports.map((report) => reportOf(id, report)), finished };
};

/** The ids of the agents that have finished. */
const finishedIn = (id: string, { reports, finished }: RecordedSession): readonly string[] =>
  finished.flatMap((agent) => {
    const last = reports.findLast((report) => report.agent === agent);
    return last === undefined ? [] : [reportOf(id, last).agent];
  });

const reportOf = (id: string, { at, agent, type, fields }: RecordedReport): SessionReport => ({
  at,
  agent: agent === null ? id : subagentId(id, type, agent),
  parent: agent === null ? null : id,
  fields,
});
