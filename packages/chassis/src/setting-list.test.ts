import { expect, test } from 'vitest';
import { z } from 'zod';
import { token, whole } from './config.ts';
import { settingsOf } from './setting-list.ts';

const description = 'What it sets.';
const settingOf = (type: z.ZodType) => settingsOf(z.object({ VIGIL_X: type })).find(({ name }) => name === 'VIGIL_X');

test('a number has its limits, its unit and its default', () => {
  const setting = settingOf(whole(0, 60).default(5).meta({ unit: 'seconds', description }));
  expect(setting).toMatchObject({
    values: 'whole number, 0 to 60 seconds',
    default: '`5`',
    isRequired: false,
    description,
  });
});

test('a default before a transform is shown as the variable has it', () => {
  const inMs = whole(0, 60).transform((seconds) => seconds * 1000);
  expect(settingOf(inMs.prefault('5').meta({ description }))).toMatchObject({ default: '`5`' });
});

test('a secret stays one where it is optional', () => {
  expect(settingOf(token('give it').meta({ description }))).toMatchObject({ isSecret: true, isRequired: true });
  expect(settingOf(token('give it').optional().meta({ description }))).toMatchObject({
    isSecret: true,
    isRequired: false,
  });
});

test('the variables of every process are among those of a service, also of one whose schema has a transform', () => {
  const config = z.object({}).transform(() => null);
  expect(settingsOf(config).map(({ name }) => name)).toContain('VIGIL_LOG_LEVEL');
});

test('a variable without a description is refused by its name', () => {
  expect(() => settingOf(z.string())).toThrow('VIGIL_X has no description');
});

test('a misspelt name in the description is refused', () => {
  expect(() => settingOf(z.string().meta({ description, isSecert: true }))).toThrow('isSecert');
});
