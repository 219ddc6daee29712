import { RegistryTrouble } from './errors.ts';
import type { RegistryAccess } from './registry-access.ts';
import { type EventSchema, schemasOf, topicNames } from './schemas.ts';

/**
 * A schema of this version at the registry. `missing`: `vigil schemas register` would add it; `incompatible`: the
 * registry would refuse it, for this reason.
 */
export type SchemaCheck =
  | { readonly kind: 'registered' | 'missing'; readonly subject: string }
  | { readonly kind: 'incompatible'; readonly subject: string; readonly why: string };

type Subject = Pick<EventSchema, 'subject' | 'json'>;

type Compatibility = { readonly is_compatible?: boolean; readonly messages?: readonly string[] };

/** How long the registry may take for one answer, milliseconds. */
const ANSWER_MS = 10_000;

/** Posts a schema. Returns null if the registry does not have it or its subject. Throws RegistryTrouble. */
const post = async (registry: RegistryAccess, path: string, json: string): Promise<Compatibility | null> => {
  const url = registry.url.replace(/\/+$/, '');
  const authorization = registry.authorization();
  const headers = {
    'content-type': 'application/vnd.schemaregistry.v1+json',
    ...(authorization !== null && { authorization }),
  };
  const body = JSON.stringify({ schema: json, schemaType: 'AVRO' });
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body, signal });
    if (response.status === 404) return null;
    if (!response.ok) throw new Error(`it answers ${response.status}`);
    return (await response.json()) as Compatibility;
  } catch (cause) {
    throw new RegistryTrouble(`the registry at ${url} cannot be compared: ${(cause as Error).message}`);
  }
};

const checkOne = async (registry: RegistryAccess, { subject, json }: Subject): Promise<SchemaCheck> => {
  const at = `/subjects/${encodeURIComponent(subject)}`;
  if ((await post(registry, at, json)) !== null) return { kind: 'registered', subject };
  const compared = await post(registry, `/compatibility${at}/versions?verbose=true`, json);
  if (compared === null || compared.is_compatible === true) return { kind: 'missing', subject };
  return { kind: 'incompatible', subject, why: compared.messages?.join('; ') || 'the registry gives no reason' };
};

/** Every schema of this version. */
const allSchemas = (): readonly EventSchema[] => topicNames.flatMap((topic) => [...schemasOf(topic).values()]);

/** Compares schemas with the registry, and changes nothing. Throws RegistryTrouble. */
export const checkSchemas = async (
  registry: RegistryAccess,
  schemas: readonly Subject[] = allSchemas(),
): Promise<readonly SchemaCheck[]> => {
  const checks: SchemaCheck[] = [];
  for (const schema of schemas) checks.push(await checkOne(registry, schema));
  return checks;
};
