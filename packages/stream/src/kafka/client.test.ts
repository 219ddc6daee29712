import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { openClients, REPEATED } from './client.ts';

const errorOf = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  readonly createErrorFromCode: (code: number) => Error;
  readonly errorCodes: readonly { readonly type: string; readonly code: number }[];
};
const textOf = (type: string): string =>
  errorOf.createErrorFromCode(errorOf.errorCodes.find((one) => one.type === type)?.code as number).message;

/** What the client logs about an answer with this error, by level. */
const logged = (type: string): readonly string[] => {
  const levels: string[] = [];
  const at = (level: string) => () => void levels.push(level);
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const { producers } = openClients({ brokers: ['127.0.0.1:9'], tls: null, sasl: null }, 'test', logger);
  producers.logger().error('Response AddPartitionsToTxn', { error: textOf(type) });
  return levels;
};

test('an answer that the client repeats while the previous transaction is being ended is not a warning', () => {
  expect(textOf('CONCURRENT_TRANSACTIONS')).toBe(REPEATED);
  expect(logged('CONCURRENT_TRANSACTIONS')).toEqual(['debug']);
});

test('every other error of an answer is a warning', () => {
  expect(logged('INVALID_PRODUCER_EPOCH')).toEqual(['warn']);
  expect(logged('NOT_LEADER_FOR_PARTITION')).toEqual(['warn']);
});
