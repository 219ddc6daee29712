import { RECORDS } from './openclaw-calls.peer.ts';
import { hash, outside, type PeerCase } from './peer.ts';

const circular = (turned: boolean): object => {
  const shared = { id: 'shared' };
  const both: Record<string, unknown> = turned ? { second: shared, first: shared } : { first: shared, second: shared };
  both.self = both;
  return both;
};

export const hashing: readonly PeerCase[] = [
  hash('the same call twice', 'call', 'alike', [
    { tool: 'read', value: { path: '/f' } },
    { tool: 'read', value: { path: '/f' } },
  ]),
  hash('other arguments', 'call', 'different', [
    { tool: 'read', value: { path: '/f1' } },
    { tool: 'read', value: { path: '/f2' } },
  ]),
  hash('another tool', 'call', 'different', [
    { tool: 'read', value: { path: '/f' } },
    { tool: 'write', value: { path: '/f' } },
  ]),
  hash('arguments that are no object', 'call', 'sized', [{ value: 'text' }, { value: 123 }, { value: null }]),
  hash('the order of keys', 'call', 'alike', [{ value: { a: 1, b: 2 } }, { value: { b: 2, a: 1 } }]),
  hash('20 kB of arguments', 'call', 'sized', [{ value: { data: 'x'.repeat(20_000) } }, { value: 1 }]),
  hash(
    'circular arguments with a shared part',
    'call',
    'alike',
    [circular(false), circular(true)].map((value) => ({ value })),
  ),
  ...outside(RECORDS, 'a call is added', 'the last 30 calls are kept', 'calls have a time', 'calls have a run'),
];
