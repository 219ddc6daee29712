import type { ClockState } from '@vigil/stream';
import type { Observation } from '../evaluator/health.ts';
import type { Decided } from './decided.ts';
import { Documents, type PublishedDocument } from './documents.ts';
import { Folds } from './folds.ts';
import type { Mark, StoredAgent } from './partition-replay.ts';
import { isWithin, type ReplayReader, type ReplaySource, type Span } from './source.ts';

/** The form of the lines; a reader refuses another one. */
export const FORM = 1;

/** The first line. `version`: of the Vigil that wrote the file. */
export type FileHeader = {
  readonly vigil_replay: number;
  readonly version: string;
  readonly exported_at: string;
  readonly span: Span;
  readonly partitions: number;
  readonly documents: readonly PublishedDocument[];
};

type Placed = { readonly partition: number; readonly offset: number; readonly timestamp: number };

/** A line after the first. `time`: a record of another agent, which only moves the time. */
type Line =
  | { readonly kind: 'earlier'; readonly agent: string }
  | { readonly kind: 'decided'; readonly decision: Decided }
  | { readonly kind: 'complete'; readonly partition: number; readonly before: number }
  | { readonly kind: 'rules'; readonly partition: number; readonly from: number; readonly rules: string }
  | { readonly kind: 'clock'; readonly partition: number; readonly clock: Partial<ClockState> }
  | ({ readonly kind: 'agent'; readonly partition: number } & StoredAgent)
  | ({ readonly kind: 'mark'; readonly key: string; readonly isReleased: boolean } & Placed)
  | ({ readonly kind: 'time' } & Placed)
  | ({ readonly kind: 'observation'; readonly event: Observation } & Placed)
  | { readonly kind: 'unreadable'; readonly partition: number; readonly offset: number; readonly why: string }
  | { readonly kind: 'end'; readonly observations: number };

/** The value of the last mark of an ingress is not empty. */
const RELEASED = Buffer.from('released');

/** Whether a first line is that of an exported span. */
export const isExportedSpan = (entry: object): boolean => 'vigil_replay' in entry;

/** What was written. */
export type Exported = { readonly observations: number; readonly decisions: number; readonly agents: number };

/** Writes a span: what it begins with, then its records. Records before the span are folded to find its beginning. */
class SpanWriter implements ReplayReader {
  readonly #span: Span;
  readonly #folds: Folds;
  readonly #write: (line: Line) => void;
  readonly #rules: { readonly partition: number; readonly from: number; readonly rules: string }[] = [];
  readonly #begun = new Set<number>();
  readonly #earlier = new Set<string>();
  readonly #agents = new Set<string>();
  /** the last record of other agents, which is written only before what follows it */
  readonly #passed = new Map<number, Mark>();
  #observations = 0;
  #decisions = 0;

  constructor({ span, documents }: ReplaySource, write: (line: Line) => void) {
    this.#span = span;
    this.#folds = new Folds((rules) => documents.policiesOf(rules));
    this.#write = write;
  }

  get exported(): Exported {
    return { observations: this.#observations, decisions: this.#decisions, agents: this.#agents.size };
  }

  rules(partition: number, from: number, rules: string): void {
    this.#folds.rules(partition, from, rules);
    this.#rules.push({ partition, from, rules });
  }

  readonly clock: ReplayReader['clock'] = (...start) => this.#folds.clock(...start);
  readonly agent: ReplayReader['agent'] = (...known) => this.#folds.agent(...known);

  earlier(agent: string): void {
    this.#earlier.add(agent);
    this.#write({ kind: 'earlier', agent });
  }

  decided(decision: Decided): void {
    if (!isWithin(this.#span, decision.occurredAt)) return;
    this.#decisions += 1;
    this.#write({ kind: 'decided', decision });
  }

  complete(partition: number, before: number): void {
    this.#write({ kind: 'complete', partition, before });
  }

  record(partition: number, mark: Mark, input: Observation | null): void {
    if (!this.#begun.has(partition)) {
      if (mark.timestamp < (this.#span.from ?? 0)) {
        this.#folds.record(partition, mark, input);
        return;
      }
      this.#begin(partition, mark.offset);
    }
    const { offset, timestamp, key, value } = mark;
    const placed = { partition, offset, timestamp };
    const isMark = key?.startsWith('@') ?? false;
    if (!isMark && (input === null || this.#earlier.has(input.key))) {
      this.#passed.set(partition, mark);
      return;
    }
    const passed = this.#passed.get(partition);
    this.#passed.delete(partition);
    if (passed !== undefined)
      this.#write({ kind: 'time', partition, offset: passed.offset, timestamp: passed.timestamp });
    if (input === null) this.#write({ kind: 'mark', ...placed, key: key ?? '', isReleased: value !== null });
    else {
      this.#observations += 1;
      this.#agents.add(input.key);
      this.#write({ kind: 'observation', ...placed, event: input });
    }
  }

  unreadable(partition: number, offset: number, why: string): void {
    if (this.#begun.has(partition)) this.#write({ kind: 'unreadable', partition, offset, why });
  }

  #begin(partition: number, offset: number): void {
    this.#begun.add(partition);
    const own = this.#rules.filter((one) => one.partition === partition);
    const before = own.findLast(({ from }) => from <= offset) ?? own[0];
    if (before !== undefined) this.#write({ kind: 'rules', ...before, from: 0 });
    for (const one of own) if (one.from > offset) this.#write({ kind: 'rules', ...one });
    const fold = this.#folds.of(partition);
    this.#write({ kind: 'clock', partition, clock: fold.clock });
    for (const agent of fold.agents())
      if (!this.#earlier.has(agent.key) && (this.#span.agent === null || agent.key === this.#span.agent))
        this.#write({ kind: 'agent', partition, ...agent });
  }
}

/**
 * Writes a span as lines of JSON. It has everything that a replay needs: the policies, the agents at its beginning, the
 * observations and the recorded decisions. `exportedAt`: epoch milliseconds.
 */
export const exportSpan = async (
  source: ReplaySource,
  { version, exportedAt }: { readonly version: string; readonly exportedAt: number },
  write: (line: string) => void,
  signal: AbortSignal,
): Promise<Exported> => {
  const { span, partitions, documents } = source;
  const header: FileHeader = {
    vigil_replay: FORM,
    version,
    exported_at: new Date(exportedAt).toISOString(),
    span,
    partitions,
    documents: documents.all,
  };
  write(JSON.stringify(header));
  const writer = new SpanWriter(source, (line) => write(JSON.stringify(line)));
  await source.read(writer, signal);
  write(JSON.stringify({ kind: 'end', observations: writer.exported.observations }));
  return writer.exported;
};

/** The file is not an exported span, or only a part of one. */
export class CorrectTheFile extends Error {
  override readonly name = 'CorrectTheFile';
}

const parsed = (line: string | undefined, name: string): unknown => {
  try {
    return JSON.parse(line ?? '');
  } catch {
    throw new CorrectTheFile(
      `${name} is not an exported span: its first line is ${JSON.stringify((line ?? '').slice(0, 60))}; write one with \`vigil replay export\``,
    );
  }
};

const headerOf = (line: string | undefined, name: string): FileHeader => {
  const header = parsed(line, name);
  if (typeof header !== 'object' || header === null || !isExportedSpan(header))
    throw new CorrectTheFile(
      `${name} is not an exported span: its first line has no vigil_replay; write one with \`vigil replay export\``,
    );
  const { vigil_replay: form, version } = header as FileHeader;
  if (form !== FORM)
    throw new CorrectTheFile(
      `${name} has form ${form}, and this version of Vigil reads form ${FORM}: use Vigil ${version}, which wrote it`,
    );
  return header as FileHeader;
};

const markOf = ({ offset, timestamp }: Placed, key: string | null, value: Buffer | null): Mark => ({
  offset,
  timestamp,
  key,
  value,
});

const apply = (reader: ReplayReader, line: Line): void => {
  switch (line.kind) {
    case 'earlier':
      reader.earlier(line.agent);
      break;
    case 'decided':
      reader.decided(line.decision);
      break;
    case 'complete':
      reader.complete(line.partition, line.before);
      break;
    case 'rules':
      reader.rules(line.partition, line.from, line.rules);
      break;
    case 'clock':
      reader.clock(line.partition, line.clock);
      break;
    case 'agent':
      reader.agent(line.partition, line);
      break;
    case 'mark':
      reader.record(line.partition, markOf(line, line.key, line.isReleased ? RELEASED : null), null);
      break;
    case 'time':
      reader.record(line.partition, markOf(line, null, null), null);
      break;
    case 'observation':
      reader.record(line.partition, markOf(line, line.event.key, null), line.event);
      break;
    case 'unreadable':
      reader.unreadable(line.partition, line.offset, line.why);
      break;
    case 'end':
      break;
  }
};

/** The latest beginning and the earliest end. */
const narrowed = (span: Span, part: Span): Span => ({
  from: part.from === null ? span.from : Math.max(part.from, span.from ?? 0),
  to: part.to === null ? span.to : Math.min(part.to, span.to ?? Number.POSITIVE_INFINITY),
  agent: part.agent ?? span.agent,
});

/**
 * The source of an exported span, from its lines without empty ones. Throws CorrectTheFile if it is none; `read` does
 * if the file ends too early. `name`: of the file, for messages; `part`: of the span.
 */
export const fileSource = async (
  lines: AsyncIterator<string>,
  name: string,
  part: Span,
  onProgress: (done: number) => void,
): Promise<ReplaySource> => {
  const first = await lines.next();
  const { span, partitions, documents } = headerOf(first.done ? undefined : first.value, name);
  const read = async (reader: ReplayReader, signal: AbortSignal) => {
    let number = 1;
    let isWhole = false;
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      signal.throwIfAborted();
      number += 1;
      if (number % 20_000 === 0) onProgress(number);
      const line = lineOf(next.value, name, number);
      if (line.kind === 'end') isWhole = true;
      apply(reader, line);
    }
    if (!isWhole) throw new CorrectTheFile(`${name} ends after line ${number}, before its last line: it was cut off`);
  };
  return { span: narrowed(span, part), partitions, documents: new Documents(documents), read };
};

const lineOf = (text: string, name: string, number: number): Line => {
  try {
    return JSON.parse(text) as Line;
  } catch (error) {
    throw new CorrectTheFile(`${name}:${number}: no JSON: ${(error as Error).message}`);
  }
};
