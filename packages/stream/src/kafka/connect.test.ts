import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { plaintext } from './access.ts';
import { failureOf, reachBrokers } from './connect.ts';

const { KafkaJSSASLAuthenticationError, KafkaJSNumberOfRetriesExceeded } = createRequire(import.meta.url)(
  'kafkajs/src/errors.js',
) as Readonly<
  Record<
    'KafkaJSSASLAuthenticationError' | 'KafkaJSNumberOfRetriesExceeded',
    new (
      error: unknown,
      options?: object,
    ) => Error
  >
>;

const kafka = plaintext(['127.0.0.1:9']);

test('brokers that refuse the credentials refuse the process, which a restart does not repair', () => {
  const refused = new KafkaJSSASLAuthenticationError('SASL SCRAM SHA512 authentication failed');
  expect(failureOf(kafka, refused)).toMatchObject({ name: 'Refused', exitCode: 2 });
  const wrapped = new KafkaJSNumberOfRetriesExceeded(refused, { retryCount: 0, retryTime: 0 });
  expect(failureOf(kafka, wrapped).message).toContain('127.0.0.1:9 refuse the credentials');
});

test('brokers that do not answer may answer later', async () => {
  await expect(reachBrokers(kafka)).rejects.toMatchObject({ name: 'Fatal', exitCode: 1 });
});
