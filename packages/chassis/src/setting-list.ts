import { z } from 'zod';
import { chassisSettings, type SettingMeta } from './config.ts';

/** A variable as docs/configuration.md has it. `values`: which texts it takes. `default`: null where it has none. */
export type Setting = {
  readonly name: string;
  readonly values: string;
  readonly default: string | null;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  readonly description: string;
};

/** Zod takes any name in `.meta`, so a misspelt one is refused here. */
const metaOfPart = z.strictObject({
  description: z.string().optional(),
  values: z.string().optional(),
  unit: z.string().optional(),
  default: z.string().optional(),
  isSecret: z.boolean().optional(),
} satisfies Readonly<Record<keyof SettingMeta, z.ZodType>>);

/** What the wrappers of a variable's type give: optional, default and transform surround the type of the text. */
type Found = {
  readonly inner: z.ZodType;
  readonly meta: z.output<typeof metaOfPart>;
  readonly isRequired: boolean;
  readonly default: string | null;
};

const find = (schema: z.ZodType): Found => {
  const meta = metaOfPart.parse(schema.meta() ?? {});
  const around = (inner: unknown): Found => {
    const found = find(inner as z.ZodType);
    return { ...found, meta: { ...found.meta, ...meta } };
  };
  if (schema instanceof z.ZodOptional) return { ...around(schema.unwrap()), isRequired: false };
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return { ...around(schema.unwrap()), isRequired: false, default: String(schema.def.defaultValue) };
  if (schema instanceof z.ZodPipe) return around(schema.in);
  return { inner: schema, meta, isRequired: true, default: null };
};

const valuesOf = (schema: z.ZodType): string =>
  schema instanceof z.ZodEnum ? `one of ${schema.options.map((one) => `\`${one}\``).join(', ')}` : 'text';

const settingOf = ([name, schema]: readonly [string, z.ZodType]): Setting => {
  const { inner, meta, isRequired, default: value } = find(schema);
  if (meta.description === undefined) throw new Error(`${name} has no description: give its type one with .meta`);
  const unit = meta.unit === undefined ? '' : ` ${meta.unit}`;
  return {
    name,
    values: `${meta.values ?? valuesOf(inner)}${unit}`,
    default: meta.default ?? (value ? `\`${value}\`` : null),
    isRequired,
    isSecret: meta.isSecret === true,
    description: meta.description,
  };
};

/** The variables of a service: those of every process, and those that its schema names. */
export const settingsOf = (config: z.ZodType): readonly Setting[] => {
  if (config instanceof z.ZodPipe) return settingsOf(config.in as z.ZodType);
  if (!(config instanceof z.ZodObject)) throw new Error('the variables of a service are an object of types');
  return Object.entries<z.ZodType>({ ...chassisSettings, ...config.shape }).map(settingOf);
};
