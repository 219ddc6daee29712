import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The outcome of one input in docs/bad-input.md; null if it cannot arrive that way. */
export type Row = {
  readonly input: string;
  readonly kafka: { readonly kind: 'letter' | 'refused' | 'passed' | 'taken'; readonly reason: string | null };
  readonly http: { readonly status: number; readonly reason: string | null; readonly field: string | null } | null;
};

const words = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);

const overKafka = (cell: string): Row['kafka'] => {
  const reason = words(cell)[0] ?? null;
  if (cell.startsWith('dead letter')) return { kind: 'letter', reason };
  if (cell.startsWith('refused by the broker')) return { kind: 'refused', reason };
  if (cell.startsWith('skipped')) return { kind: 'passed', reason: null };
  if (cell.startsWith('taken')) return { kind: 'taken', reason: null };
  throw new Error(`docs/bad-input.md: "${cell}" is not an answer over Kafka`);
};

const overHttp = (cell: string): Row['http'] => {
  if (cell === '-') return null;
  const status = Number(/\b([24]\d\d)\b/.exec(cell)?.[1]);
  if (!(status > 0)) throw new Error(`docs/bad-input.md: "${cell}" is not an answer over HTTP`);
  const [reason = null, field = null] = words(cell);
  return { status, reason, field };
};

/** The table, line by line. */
export const rows: readonly Row[] = readFileSync(path.resolve(import.meta.dirname, '../../docs/bad-input.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (input|---)/.test(line))
  .map((line) => {
    const [input = '', kafka = '', http = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { input, kafka: overKafka(kafka), http: overHttp(http) };
  });
