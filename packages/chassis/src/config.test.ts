import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chassisSettings, databaseSettings, logSettings, readConfig, token, whole } from './config.ts';

const good = { KAFKA_BROKERS: 'a:9092, b:9093', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081/apis/ccompat/v7' };
const kafka = logSettings({});
const messageOf = (read: () => unknown): string => {
  try {
    read();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was refused';
};

describe('readConfig', () => {
  test('reads variables typed, with defaults for missing ones', () => {
    expect(readConfig(kafka, good)).toEqual({
      KAFKA_BROKERS: ['a:9092', 'b:9093'],
      SCHEMA_REGISTRY_URL: good.SCHEMA_REGISTRY_URL,
      VIGIL_PARTITIONS: 4,
    });
  });

  test('an empty variable counts as not set', () => {
    expect(readConfig(kafka, { ...good, VIGIL_PARTITIONS: '' }).VIGIL_PARTITIONS).toBe(4);
    expect(messageOf(() => readConfig(kafka, { ...good, KAFKA_BROKERS: '' }))).toContain('KAFKA_BROKERS is not set');
  });

  test('a transform gives the variables the shape that their service needs', () => {
    const shaped = kafka.transform((env) => ({ first: env.KAFKA_BROKERS?.[0] }));
    expect(readConfig(shaped, good)).toEqual({ first: 'a:9092' });
  });

  test('names all problems at once, each with variable, value and remedy', () => {
    const message = messageOf(() => readConfig(kafka, { KAFKA_BROKERS: 'nowhere', VIGIL_PARTITIONS: '0' }));
    expect(message).toContain('3 of its variables');
    expect(message).toContain('KAFKA_BROKERS is "nowhere": give host:port');
    expect(message).toContain('SCHEMA_REGISTRY_URL is not set: give the address');
    expect(message).toContain('VIGIL_PARTITIONS is "0": give a whole number from 1 to 1024');
  });

  test('names the problems of two schemas in one message, and one of both once', () => {
    const read = () =>
      readConfig(z.intersection(z.object(chassisSettings), kafka), { VIGIL_LOG_LEVEL: 'loud', VIGIL_PARTITIONS: 'x' });
    expect(messageOf(read)).toContain('4 of its variables');
    expect(messageOf(() => readConfig(z.intersection(kafka, kafka), {}))).toContain('2 of its variables');
  });

  test('is a refusal, which is not restarted', () => {
    expect(() => readConfig(kafka, {})).toThrow(expect.objectContaining({ name: 'Refused', exitCode: 2 }));
  });

  test('never shows a secret', () => {
    const schema = z.object({ VIGIL_GATEWAY_TOKEN: token('give a token'), ...databaseSettings });
    const message = messageOf(() =>
      readConfig(schema, { VIGIL_GATEWAY_TOKEN: 'hunter2', DATABASE_URL: 'mysql://vigil:hunter3@db:1/vigil' }),
    );
    expect(message).toContain('VIGIL_GATEWAY_TOKEN is (a secret, not shown): give a token');
    expect(message).toContain('DATABASE_URL is "mysql://…@db:1/vigil"');
    expect(message).not.toContain('hunter');
  });

  test('shows the limits of a token, because they are not secret', () => {
    const schema = z.object({ VIGIL_TOKEN_AGENTS: whole(1, 100) });
    const message = messageOf(() => readConfig(schema, { VIGIL_TOKEN_AGENTS: 'many' }));
    expect(message).toContain('VIGIL_TOKEN_AGENTS is "many": give a whole number from 1 to 100');
  });

  test('never shows the password of an address that does not parse', () => {
    const message = messageOf(() => readConfig(z.object(databaseSettings), { DATABASE_URL: 'vigil:hun ter@4@db' }));
    expect(message).toContain('DATABASE_URL is "…@db"');
    expect(message).not.toContain('hun');
  });
});

describe('where the log is', () => {
  const file = { VIGIL_LOG_FILE: 'log.db' };
  const refused = (env: Record<string, string>) => messageOf(() => readConfig(kafka, env));

  test('the file of this machine needs no broker and no registry', () => {
    expect(readConfig(kafka, file)).toEqual({ VIGIL_LOG_FILE: 'log.db', VIGIL_PARTITIONS: 4 });
  });

  test('a file together with Kafka is refused, even without a registry', () => {
    expect(refused({ ...good, ...file })).toContain('VIGIL_LOG_FILE is "log.db": KAFKA_BROKERS is set too: unset one');
    expect(refused({ KAFKA_BROKERS: 'a:9092', ...file })).toContain('KAFKA_BROKERS is set too');
  });

  test('an environment with neither is refused, with both remedies', () => {
    expect(refused({})).toMatch(/KAFKA_BROKERS is not set: give host:port.*, set VIGIL_LOG_FILE to a file/);
  });

  test('Kafka without its registry is refused', () => {
    expect(refused({ KAFKA_BROKERS: 'a:9092' })).toContain('SCHEMA_REGISTRY_URL is not set');
  });
});

describe('a whole number', () => {
  test.each([
    ['1', 1],
    ['10', 10],
  ])('%s is within 1 to 10', (text, number) => {
    expect(whole(1, 10).parse(text)).toBe(number);
  });

  test.each(['0', '11', '1.5', '-1', '1e1', ' 1', 'NaN'])('%j is not within 1 to 10', (text) => {
    expect(whole(1, 10).safeParse(text).success).toBe(false);
  });
});
