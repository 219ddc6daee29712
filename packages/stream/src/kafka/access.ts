import { readFileSync } from 'node:fs';
import { Refused } from '../errors.ts';

/** How a client authenticates. `token` is read at each connection, so that a renewed token is used. */
export type Sasl =
  | { readonly mechanism: 'scram-sha-512'; readonly username: string; readonly password: string }
  | { readonly mechanism: 'oauthbearer'; readonly token: () => string };

/**
 * How to reach a Kafka cluster. `tls`: null for an unencrypted connection; `ca`: the PEM certificates that sign the
 * brokers' own, null for the CAs that Node trusts. `sasl`: null without authentication.
 */
export type KafkaAccess = {
  readonly brokers: readonly string[];
  readonly tls: { readonly ca: string | null } | null;
  readonly sasl: Sasl | null;
};

/** An unencrypted connection without authentication, for a broker that only this machine can reach. */
export const plaintext = (brokers: readonly string[]): KafkaAccess => ({ brokers, tls: null, sasl: null });

/** Variables of TLS and SASL, as docs/configuration.md describes them. Every process that opens a connection to Kafka reads the same. */
export const KAFKA_ACCESS_SETTINGS = {
  KAFKA_TLS: { values: 'one of `0`, `1`', description: '`1` encrypts the connection, with the CAs that Node trusts.' },
  KAFKA_TLS_CA: {
    values: 'file',
    description: 'PEM certificates that sign those of the brokers; also encrypts the connection.',
  },
  KAFKA_SASL_MECHANISM: {
    values: 'one of `SCRAM-SHA-512`, `OAUTHBEARER`',
    description: 'How the process authenticates to the brokers; requires TLS.',
  },
  KAFKA_SASL_USERNAME: { values: 'text', description: 'The user of `SCRAM-SHA-512`.' },
  KAFKA_SASL_PASSWORD: { values: 'text', description: 'The password of `SCRAM-SHA-512`.', isSecret: true },
  KAFKA_SASL_PASSWORD_FILE: { values: 'file', description: 'Holds the password of `SCRAM-SHA-512`.' },
  KAFKA_SASL_TOKEN_FILE: {
    values: 'file',
    description: 'Holds the token of `OAUTHBEARER`; each connection reads it again.',
  },
} as const;
type Variable = keyof typeof KAFKA_ACCESS_SETTINGS;
export const KAFKA_ACCESS_VARIABLES = Object.keys(KAFKA_ACCESS_SETTINGS) as readonly Variable[];
export type KafkaVariables = { readonly [name in Variable]?: string | undefined };

const contentOf = (variable: Variable, file: string): string => {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new Refused(`${variable} names ${file}, which cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (content === '') throw new Refused(`${variable} names ${file}, which is empty`);
  return content;
};

const tlsOf = ({ KAFKA_TLS: on, KAFKA_TLS_CA: file }: KafkaVariables): KafkaAccess['tls'] => {
  if (on && on !== '0' && on !== '1') throw new Refused(`KAFKA_TLS is ${JSON.stringify(on)}: give 1, or leave it out`);
  if (on === '0' && file) throw new Refused('KAFKA_TLS is 0 and KAFKA_TLS_CA is set: leave one of them out');
  if (!file) return on === '1' ? { ca: null } : null;
  const ca = contentOf('KAFKA_TLS_CA', file);
  if (!ca.includes('-----BEGIN CERTIFICATE-----'))
    throw new Refused(`KAFKA_TLS_CA names ${file}, which has no certificate: give a file of PEM certificates`);
  return { ca };
};

/** Refuses variables of a mechanism that is not selected. */
const requireUnset = (variables: KafkaVariables, names: readonly Variable[], why: string): void => {
  const set = names.filter((name) => variables[name]);
  if (set.length > 0) throw new Refused(`${set.join(' and ')} ${set.length > 1 ? 'are' : 'is'} set, ${why}`);
};

const passwordOf = ({ KAFKA_SASL_PASSWORD: given, KAFKA_SASL_PASSWORD_FILE: file }: KafkaVariables): string => {
  if (given && file)
    throw new Refused('KAFKA_SASL_PASSWORD and KAFKA_SASL_PASSWORD_FILE are both set: leave one of them out');
  if (file) return contentOf('KAFKA_SASL_PASSWORD_FILE', file);
  if (given) return given;
  throw new Refused('KAFKA_SASL_USERNAME is set without a password: set KAFKA_SASL_PASSWORD_FILE');
};

const saslOf = (variables: KafkaVariables): Sasl | null => {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_TOKEN_FILE: file } = variables;
  const ofScram = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'KAFKA_SASL_PASSWORD_FILE'] as const;
  switch (mechanism) {
    case undefined:
    case '':
      requireUnset(
        variables,
        [...ofScram, 'KAFKA_SASL_TOKEN_FILE'],
        'and KAFKA_SASL_MECHANISM is not: set it to SCRAM-SHA-512 or OAUTHBEARER',
      );
      return null;
    case 'SCRAM-SHA-512':
      requireUnset(variables, ['KAFKA_SASL_TOKEN_FILE'], 'which belongs to OAUTHBEARER: leave it out');
      if (!username) throw new Refused('KAFKA_SASL_MECHANISM is SCRAM-SHA-512: set KAFKA_SASL_USERNAME as well');
      return { mechanism: 'scram-sha-512', username, password: passwordOf(variables) };
    case 'OAUTHBEARER': {
      requireUnset(variables, ofScram, 'which belongs to SCRAM-SHA-512: leave it out');
      if (!file) throw new Refused('KAFKA_SASL_MECHANISM is OAUTHBEARER: set KAFKA_SASL_TOKEN_FILE as well');
      const token = () => contentOf('KAFKA_SASL_TOKEN_FILE', file);
      token();
      return { mechanism: 'oauthbearer', token };
    }
    default:
      throw new Refused(
        `KAFKA_SASL_MECHANISM is ${JSON.stringify(mechanism)}: give SCRAM-SHA-512 or OAUTHBEARER, or leave it out`,
      );
  }
};

/** Reads the cluster from the environment. Throws Refused if a setting is incomplete or a file cannot be read. */
export const kafkaFrom = ({
  KAFKA_BROKERS: brokers,
  ...variables
}: KafkaVariables & { readonly KAFKA_BROKERS: readonly string[] }): KafkaAccess => {
  const tls = tlsOf(variables);
  const sasl = saslOf(variables);
  if (sasl !== null && tls === null)
    throw new Refused('KAFKA_SASL_MECHANISM is set without TLS: set KAFKA_TLS_CA, or KAFKA_TLS=1 for a public CA');
  return { brokers, tls, sasl };
};
