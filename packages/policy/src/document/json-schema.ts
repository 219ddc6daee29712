import { z } from 'zod';
import type { Vocabulary } from '../compile/compiled.ts';
import { assignDocument } from '../sets/assignment.ts';
import { brief } from '../values/duration.ts';
import { duration } from '../values/duration-type.ts';
import { policyDocument } from './document.ts';
import { STEPS, step } from './steps.ts';

type Json = Record<string, unknown>;

const DURATION: Json = {
  anyOf: [{ type: 'string', pattern: '^\\s*\\d+(\\.\\d+)?(ms|s|m|h|d)\\s*$' }, { const: 0 }],
  description: 'a duration such as 10m, 60s or 500ms',
};
const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** The JSON Schema of a policy's document, for editors: the names and settings of every signal, exemption and step. */
export const policySchema = ({ signals, exemptions }: Vocabulary): Json => {
  const schema = schemaOf(policyDocument);
  const properties = schema.properties as Json;
  const definitions: Json = Object.fromEntries(
    Object.entries(signals).map(([name, { limits }]) => [`signal_${name}`, useOf(schemaOf(limits))]),
  );
  return {
    $schema: DRAFT,
    title: 'A policy of Vigil: when agents are unwell, and what is done about it',
    ...schema,
    properties: {
      ...properties,
      signals: signalsSchema(Object.keys(signals)),
      exemptions: {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(exemptions).map(([name, { limits }]) => [
            name,
            { anyOf: [{ type: 'boolean' }, schemaOf(limits)] },
          ]),
        ),
        additionalProperties: false,
      },
    },
    definitions: { ...definitions, named: namedSchema(Object.keys(signals)), step: stepSchema() },
  };
};

/** The JSON Schema of assign.yaml. */
export const assignmentSchema = (): Json => ({
  $schema: DRAFT,
  title: 'Which agent gets which policy of Vigil',
  ...schemaOf(assignDocument),
});

const schemaOf = (schema: z.ZodType): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => described(zodSchema, jsonSchema as Json),
  }) as Json;
  return rest;
};

/** The parts that zod cannot express: functions read durations, and names select steps. */
const described = (schema: unknown, json: Json): void => {
  if (schema === duration) Object.assign(json, DURATION);
  if (schema === step) Object.assign(json, { $ref: '#/definitions/step' });
  if (schema instanceof z.ZodDefault && isDuration(schema.unwrap()))
    json.default = durationsAsText(schema.def.defaultValue);
};

const isDuration = (schema: unknown): boolean =>
  schema === duration ||
  (schema instanceof z.ZodNullable && isDuration(schema.unwrap())) ||
  (schema instanceof z.ZodArray && isDuration(schema.element));

const durationsAsText = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(durationsAsText);
  return typeof value === 'number' ? brief(value) : value;
};

/** The settings of one signal, with the fields that any use of a signal may have. */
const useOf = ({ properties, ...settings }: Json): Json => {
  const name = { type: 'string' };
  return {
    ...settings,
    properties: {
      is: { type: 'string', description: 'the signal that this name means' },
      unless: {
        anyOf: [name, { type: 'array', items: name }],
        description: 'it does not count while one of these fires',
      },
      ...(properties as Json | undefined),
    },
  };
};

/** A use is a signal under its own name, or under another name with the signal in `is`. */
const signalsSchema = (names: readonly string[]): Json => {
  const settingsOf = (name: string): Json => ({ $ref: `#/definitions/signal_${name}` });
  const named: Json = { $ref: '#/definitions/named' };
  const own = (name: string): Json =>
    conditional({ type: 'object', required: ['is'] }, named, { anyOf: [settingsOf(name), { type: 'null' }] });
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, own(name)])),
    additionalProperties: named,
    propertyNames: { pattern: '^[a-z][a-z0-9_-]*$' },
  };
};

const conditional = (condition: Json, consequence: Json, otherwise?: Json): Json => {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: consequence, ...(otherwise && { else: otherwise }) };
};

/** A use under another name has the settings of the signal in `is`. */
const namedSchema = (names: readonly string[]): Json => ({
  type: 'object',
  properties: { is: { enum: names } },
  required: ['is'],
  allOf: names.map((name) =>
    conditional({ properties: { is: { const: name } } }, { $ref: `#/definitions/signal_${name}` }),
  ),
});

const stepSchema = (): Json => {
  const entries = Object.entries(STEPS).map(([name, settings]) => [name, schemaOf(settings)] as const);
  const bare = Object.entries(STEPS).flatMap(([name, settings]) => (settings.safeParse({}).success ? [name] : []));
  return {
    anyOf: [
      { enum: bare },
      {
        type: 'object',
        properties: Object.fromEntries(entries),
        additionalProperties: false,
        minProperties: 1,
        maxProperties: 1,
      },
    ],
  };
};
