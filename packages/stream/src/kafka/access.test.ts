import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { kafkaFrom } from './access.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-kafka-access-'));
afterAll(() => rmSync(dir, { recursive: true }));
const file = (name: string, content: string): string => {
  const at = path.join(dir, name);
  writeFileSync(at, content);
  return at;
};
const KAFKA_BROKERS = ['kafka:9092'];
const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
const KAFKA_TLS_CA = file('ca.pem', pem);
const scram = { KAFKA_TLS_CA, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512', KAFKA_SASL_USERNAME: 'recovery' };

test('without a variable of TLS or SASL the connection is unencrypted and without an identity', () => {
  expect(kafkaFrom({ KAFKA_BROKERS })).toEqual({ brokers: KAFKA_BROKERS, tls: null, sasl: null });
  expect(kafkaFrom({ KAFKA_BROKERS, KAFKA_TLS: '', KAFKA_SASL_MECHANISM: '' })).toMatchObject({
    tls: null,
    sasl: null,
  });
});

test('a CA of its own or a public one encrypts the connection', () => {
  expect(kafkaFrom({ KAFKA_BROKERS, KAFKA_TLS_CA }).tls).toEqual({ ca: pem });
  expect(kafkaFrom({ KAFKA_BROKERS, KAFKA_TLS: '1' }).tls).toEqual({ ca: null });
});

test('a SCRAM password comes from its file without the line end that an editor adds', () => {
  const KAFKA_SASL_PASSWORD_FILE = file('password', 'hunter2\n');
  expect(kafkaFrom({ KAFKA_BROKERS, ...scram, KAFKA_SASL_PASSWORD_FILE }).sasl).toEqual({
    mechanism: 'scram-sha-512',
    username: 'recovery',
    password: 'hunter2',
  });
});

test('a token of OAUTHBEARER is read again at each connection', () => {
  const KAFKA_SASL_TOKEN_FILE = file('token', 'first');
  const { sasl } = kafkaFrom({
    KAFKA_BROKERS,
    KAFKA_TLS: '1',
    KAFKA_SASL_MECHANISM: 'OAUTHBEARER',
    KAFKA_SASL_TOKEN_FILE,
  });
  if (sasl?.mechanism !== 'oauthbearer') throw new Error('the mechanism is not OAUTHBEARER');
  expect(sasl.token()).toBe('first');
  writeFileSync(KAFKA_SASL_TOKEN_FILE, 'second');
  expect(sasl.token()).toBe('second');
});

const password = { KAFKA_SASL_PASSWORD: 'hunter2' };
test.each([
  ['a user without a mechanism', { KAFKA_SASL_USERNAME: 'x' }, 'KAFKA_SASL_MECHANISM is not: set it to'],
  ['an unknown mechanism', { KAFKA_SASL_MECHANISM: 'PLAIN' }, 'is "PLAIN": give SCRAM-SHA-512 or OAUTHBEARER'],
  ['SCRAM without a user', { ...scram, ...password, KAFKA_SASL_USERNAME: '' }, 'set KAFKA_SASL_USERNAME as well'],
  ['SCRAM without a password', scram, 'set KAFKA_SASL_PASSWORD_FILE'],
  ['two passwords', { ...scram, ...password, KAFKA_SASL_PASSWORD_FILE: '/x' }, 'are both set'],
  ['SCRAM without TLS', { ...scram, ...password, KAFKA_TLS_CA: '' }, 'set without TLS'],
  ['OAUTHBEARER without a token', { KAFKA_SASL_MECHANISM: 'OAUTHBEARER' }, 'set KAFKA_SASL_TOKEN_FILE as well'],
  ['a token with SCRAM', { ...scram, ...password, KAFKA_SASL_TOKEN_FILE: '/x' }, 'belongs to OAUTHBEARER'],
  ['a missing CA', { KAFKA_TLS_CA: '/nowhere/ca.pem' }, 'KAFKA_TLS_CA names /nowhere/ca.pem, which cannot be read'],
  ['an invalid CA', { KAFKA_TLS_CA: file('key', 'secret') }, 'has no certificate'],
  ['an invalid switch', { KAFKA_TLS: 'yes' }, 'KAFKA_TLS is "yes": give 1'],
  ['TLS off beside a CA', { KAFKA_TLS: '0', KAFKA_TLS_CA }, 'leave one of them out'],
])('%s is refused with its remedy, and no password is shown', (_, variables, remedy) => {
  const refused = (): unknown => kafkaFrom({ KAFKA_BROKERS, ...variables });
  expect(refused).toThrow(remedy);
  expect(refused).not.toThrow('hunter2');
});
