import { expect, test } from 'vitest';
import { chooseLog, chosenLine, type Machine, startRequestOf } from './choose-log.ts';

const bare: Machine = { hasServers: () => false, hasContainerEngine: () => false, hasJava: () => false };
const has = (name: keyof Machine): Machine => ({ ...bare, [name]: () => true });

test.each(['hasServers', 'hasContainerEngine', 'hasJava'] as const)('a machine with %s runs on Kafka', (name) => {
  expect(chooseLog(null, has(name)).kind).toBe('kafka');
});

test('a machine without them runs on the log in a file, and the line names the reason and the choice', () => {
  const chosen = chooseLog(null, bare);
  expect(chosen.kind).toBe('embedded');
  expect(chosenLine(chosen)).toBe(
    'log: one file, without Kafka, because this machine has no container engine, and not both Java 17 and Maven (choose with --embedded or --kafka)',
  );
});

test('an option decides, and nothing of the machine is checked', () => {
  const unasked = (): never => {
    throw new Error('asked');
  };
  const machine = { hasServers: unasked, hasContainerEngine: unasked, hasJava: unasked };
  expect(chooseLog('embedded', machine)).toEqual({ kind: 'embedded', why: '--embedded is given' });
  expect(chooseLog('kafka', machine).kind).toBe('kafka');
});

test('npm start reads its options after --, and those that npm itself has read', () => {
  expect(startRequestOf([], {})).toEqual({ log: null, hasDemo: true });
  expect(startRequestOf(['--embedded', '--no-demo'], {})).toEqual({ log: 'embedded', hasDemo: false });
  expect(startRequestOf([], { npm_config_embedded: 'true' }).log).toBe('embedded');
  expect(startRequestOf([], { npm_config_kafka: 'true' }).log).toBe('kafka');
  expect(startRequestOf([], { npm_config_demo: '' }).hasDemo).toBe(false);
});

test('an unknown option and both logs are refused', () => {
  expect(() => startRequestOf(['--embeded'], {})).toThrow('--embeded is not one of them');
  expect(() => startRequestOf(['--kafka', '--embedded'], {})).toThrow('exclude each other');
  expect(() => startRequestOf(['--kafka'], { npm_config_embedded: 'true' })).toThrow('exclude each other');
});
