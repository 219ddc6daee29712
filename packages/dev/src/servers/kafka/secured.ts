import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { PRINCIPALS } from '@vigil/stream';
import { Refusal } from '../../refusal.ts';
import { keptSecret, secretFile } from '../kept-secret.ts';

/** The principal that creates topics and ACLs, and with which tests read. */
const ADMIN = 'admin';
const BROKER = 'broker';

const filesOf = (dir: string): { keystore: string; ca: string } => ({
  keystore: path.join(dir, 'secrets', 'broker.p12'),
  ca: path.join(dir, 'secrets', 'ca.pem'),
});

const keytool = (...args: readonly string[]): void => {
  try {
    execFileSync('keytool', args, { stdio: 'pipe' });
  } catch (error) {
    throw new Refusal(`keytool of the Java runtime could not make a certificate: ${(error as Error).message}`);
  }
};

/** A self-signed certificate of the loopback, in the format of Java and in the format of clients. */
export const makeCertificate = (dir: string): void => {
  const { keystore, ca } = filesOf(dir);
  if (existsSync(ca)) return;
  mkdirSync(path.dirname(keystore), { recursive: true, mode: 0o700 });
  const store = ['-keystore', keystore, '-storetype', 'PKCS12', '-storepass', keptSecret(dir, 'keystore')];
  const name = ['-dname', 'CN=vigil', '-ext', 'san=ip:127.0.0.1,dns:localhost', '-validity', '3650'];
  keytool('-genkeypair', '-alias', 'broker', '-keyalg', 'EC', '-groupname', 'secp256r1', ...name, ...store);
  keytool('-exportcert', '-rfc', '-alias', 'broker', '-file', ca, ...store);
};

const login = (module: string, dir: string, more = ''): string =>
  `org.apache.kafka.common.security.${module} required username="${BROKER}" password="${keptSecret(dir, BROKER)}"${more};`;

/** Settings of a broker that accepts only TLS, requires SCRAM of every client, and enforces ACLs. */
export const securedSettings = (dir: string): Readonly<Record<string, string>> => ({
  'listener.security.protocol.map': 'CONTROLLER:SASL_SSL,SASL_SSL:SASL_SSL',
  'inter.broker.listener.name': 'SASL_SSL',
  'ssl.keystore.type': 'PKCS12',
  'ssl.keystore.location': filesOf(dir).keystore,
  'ssl.keystore.password': keptSecret(dir, 'keystore'),
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': filesOf(dir).ca,
  'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
  'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
  'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': login('scram.ScramLoginModule', dir),
  // The controller stores the SCRAM users, so its own listener needs another mechanism.
  'sasl.mechanism.controller.protocol': 'PLAIN',
  'listener.name.controller.sasl.enabled.mechanisms': 'PLAIN',
  'listener.name.controller.plain.sasl.jaas.config': login(
    'plain.PlainLoginModule',
    dir,
    ` user_${BROKER}="${keptSecret(dir, BROKER)}"`,
  ),
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': `User:${BROKER};User:${ADMIN}`,
});

/** Arguments of StorageTool for the SCRAM users of a broker without data, each with its own password. */
export const scramUsers = (dir: string): readonly string[] =>
  [BROKER, ADMIN, ...PRINCIPALS].flatMap((name) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${keptSecret(dir, name)}]`,
  ]);

/** Variables of a client that connects as this principal. */
export const identityOf = (dir: string, principal: string): Readonly<Record<string, string>> => ({
  KAFKA_TLS_CA: filesOf(dir).ca,
  KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
  KAFKA_SASL_USERNAME: principal,
  KAFKA_SASL_PASSWORD_FILE: secretFile(dir, principal),
});

export const adminIdentity = (dir: string): Readonly<Record<string, string>> => identityOf(dir, ADMIN);
