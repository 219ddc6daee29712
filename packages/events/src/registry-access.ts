import { readFileSync } from 'node:fs';
import { CorrectRegistryVariables } from './errors.ts';

/**
 * How to reach a schema registry. `url` is the Confluent-compatible address; Apicurio's ends in /apis/ccompat/v7.
 * `authorization`: the header of a request, null without authentication. It is read for each request.
 */
export type RegistryAccess = { readonly url: string; readonly authorization: () => string | null };

/** A registry without authentication. */
export const openRegistry = (url: string): RegistryAccess => ({ url, authorization: () => null });

/**
 * Variables of the registry's authentication, as docs/configuration.md describes them. Every process that uses the
 * registry reads the same ones.
 */
export const REGISTRY_AUTH_SETTINGS = {
  SCHEMA_REGISTRY_AUTH: {
    values: 'one of `basic`, `bearer`',
    description: 'How the process authenticates to the schema registry.',
  },
  SCHEMA_REGISTRY_USERNAME: { values: 'text', description: 'The user of `basic`.' },
  SCHEMA_REGISTRY_PASSWORD: { values: 'text', description: 'The password of `basic`.', isSecret: true },
  SCHEMA_REGISTRY_PASSWORD_FILE: { values: 'file', description: 'Holds the password of `basic`.' },
  SCHEMA_REGISTRY_TOKEN_FILE: {
    values: 'file',
    description: 'Holds the token of `bearer`; each request reads it again.',
  },
} as const;
type Variable = keyof typeof REGISTRY_AUTH_SETTINGS;
export const REGISTRY_AUTH_VARIABLES = Object.keys(REGISTRY_AUTH_SETTINGS) as readonly Variable[];
export type RegistryVariables = { readonly [name in Variable]?: string | undefined };

const contentOf = (variable: Variable, file: string): string => {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new CorrectRegistryVariables(`${variable} names ${file}, which cannot be read: ${(cause as Error).message}`);
  }
  if (content === '') throw new CorrectRegistryVariables(`${variable} names ${file}, which is empty`);
  return content;
};

const requireUnset = (variables: RegistryVariables, names: readonly Variable[], why: string): void => {
  const set = names.filter((name) => variables[name]);
  if (set.length > 0)
    throw new CorrectRegistryVariables(`${set.join(' and ')} ${set.length > 1 ? 'are' : 'is'} set, ${why}`);
};

const basicOf = (variables: RegistryVariables): string => {
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: given } = variables;
  const file = variables.SCHEMA_REGISTRY_PASSWORD_FILE;
  if (!username)
    throw new CorrectRegistryVariables('SCHEMA_REGISTRY_AUTH is basic: set SCHEMA_REGISTRY_USERNAME as well');
  if (given && file)
    throw new CorrectRegistryVariables(
      'SCHEMA_REGISTRY_PASSWORD and SCHEMA_REGISTRY_PASSWORD_FILE are both set: leave one of them out',
    );
  const password = file ? contentOf('SCHEMA_REGISTRY_PASSWORD_FILE', file) : given;
  if (!password)
    throw new CorrectRegistryVariables('SCHEMA_REGISTRY_AUTH is basic: set SCHEMA_REGISTRY_PASSWORD_FILE as well');
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
};

/** Reads the registry from the environment. Throws CorrectRegistryVariables if a setting is incomplete. */
export const registryFrom = ({
  SCHEMA_REGISTRY_URL: url,
  ...variables
}: RegistryVariables & { readonly SCHEMA_REGISTRY_URL: string }): RegistryAccess => {
  const ofBasic = ['SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD', 'SCHEMA_REGISTRY_PASSWORD_FILE'] as const;
  const file = variables.SCHEMA_REGISTRY_TOKEN_FILE;
  switch (variables.SCHEMA_REGISTRY_AUTH) {
    case undefined:
    case '':
      requireUnset(
        variables,
        [...ofBasic, 'SCHEMA_REGISTRY_TOKEN_FILE'],
        'and SCHEMA_REGISTRY_AUTH is not: set it to basic or bearer',
      );
      return openRegistry(url);
    case 'basic': {
      requireUnset(variables, ['SCHEMA_REGISTRY_TOKEN_FILE'], 'which belongs to bearer: leave it out');
      const header = basicOf(variables);
      return { url, authorization: () => header };
    }
    case 'bearer': {
      requireUnset(variables, ofBasic, 'which belongs to basic: leave it out');
      if (!file)
        throw new CorrectRegistryVariables('SCHEMA_REGISTRY_AUTH is bearer: set SCHEMA_REGISTRY_TOKEN_FILE as well');
      const authorization = () => `Bearer ${contentOf('SCHEMA_REGISTRY_TOKEN_FILE', file)}`;
      authorization();
      return { url, authorization };
    }
    default:
      throw new CorrectRegistryVariables(
        `SCHEMA_REGISTRY_AUTH is ${JSON.stringify(variables.SCHEMA_REGISTRY_AUTH)}: give basic or bearer, or leave it out`,
      );
  }
};
