import { describe, expect, test } from 'vitest';
import { PROOF_AGE_MS, proofCheck, proofSigner } from './proof.ts';

const KEY = 'a-key-of-proofs-for-tests-only-0001';
const OTHER = 'a-key-of-proofs-for-tests-only-0002';
const NOW = 1_764_000_000_000;
const record = { key: 'worker-1', value: Buffer.from([0, 1, 2, 3]), timestamp: NOW + 20 };
const header = proofSigner(KEY)(record.key, record.value, NOW);
const check = proofCheck([KEY]);

test('a proof holds for the record that the gateway signed', () => {
  expect(check(header, record)).toBeNull();
});

test('a proof of another key, value or agent does not hold', () => {
  expect(check(header, { ...record, value: Buffer.from([0, 1, 2, 4]) })).toBe('its code belongs to another record');
  expect(check(header, { ...record, key: 'worker-2' })).toBe('its code belongs to another record');
  expect(proofCheck([OTHER])(header, record)).toMatch(/^its key [\w-]{8} is none of VIGIL_PROOF_KEY and/);
});

test('no part of a record can be moved into another part', () => {
  const moved = { ...record, key: 'worker-1\n\0', value: Buffer.from([1, 2, 3]) };
  expect(check(header, moved)).toBe('its code belongs to another record');
  const at = header.split('.')[1] ?? '';
  expect(check(header.replace(at, `${at}1`), record)).toBe('its code belongs to another record');
});

describe('while a key changes', () => {
  test('the proofs of both are accepted, and those of a removed key are not', () => {
    const previous = proofSigner(OTHER)(record.key, record.value, NOW);
    expect(proofCheck([KEY, OTHER])(previous, record)).toBeNull();
    expect(proofCheck([KEY, OTHER])(header, record)).toBeNull();
    expect(check(previous, record)).not.toBeNull();
  });
});

test('a copy that is written five minutes later proves nothing, and neither does one from the future', () => {
  expect(check(header, { ...record, timestamp: NOW + PROOF_AGE_MS })).toBeNull();
  expect(check(header, { ...record, timestamp: NOW - PROOF_AGE_MS })).toBeNull();
  const late = 'it was made 300 s before or after the record was written: at most 300 are accepted';
  expect(check(header, { ...record, timestamp: NOW + PROOF_AGE_MS + 1 })).toBe(late);
  expect(check(header, { ...record, timestamp: NOW - PROOF_AGE_MS - 1 })).toBe(late);
});

test.each([
  '',
  'x',
  'yes',
  `${header}x`,
  header.slice(1),
  header.replaceAll('.', ' '),
  header.split('.').slice(0, 2).join('.'),
])('a header of another form proves nothing: %s', (text) => {
  expect(check(text, record)).toBe('the header vigil-proof has another form');
});
