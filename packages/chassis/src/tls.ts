import { readFileSync } from 'node:fs';
import { Refused } from '@vigil/stream/errors';
import { type FastifyInstance, type FastifyServerOptions, fastify } from 'fastify';
import { z } from 'zod';
import { answerRefusedBodies } from './rest-of-body.ts';

/** Variables of a server that people or agents reach. */
export const tlsSettings = {
  VIGIL_TLS_CERT: z
    .string()
    .optional()
    .meta({ values: 'file', description: 'The certificate of the server in PEM, with those that sign it.' }),
  VIGIL_TLS_KEY: z
    .string()
    .optional()
    .meta({ values: 'file', description: 'The private key of that certificate in PEM.' }),
  VIGIL_TLS_TERMINATED: z
    .enum(['0', '1'], { error: 'give 1 where a proxy terminates TLS, or leave it out' })
    .optional()
    .meta({ description: '`1` permits plain HTTP on an address that other hosts reach: a proxy terminates TLS.' }),
};

type Settings = { readonly [name in keyof typeof tlsSettings]?: string | undefined };

/** A certificate with those that sign it, and its key, in PEM. */
export type Tls = { readonly cert: string; readonly key: string };

const LOOPBACK = /^(localhost|::1|\[::1\]|127(\.\d{1,3}){3})$/i;

const contentOf = (variable: keyof Settings, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Refused(`${variable} names ${file}, which cannot be read: ${(cause as Error).message}`, { cause });
  }
};

/**
 * The certificate with which a server listens on `host`; null for plain HTTP. Throws Refused where tokens would cross a
 * network in plain text. `variable`: what sets the host.
 */
export const tlsFor = (host: string, variable: string, settings: Settings): Tls | null => {
  const { VIGIL_TLS_CERT: cert, VIGIL_TLS_KEY: key, VIGIL_TLS_TERMINATED: terminated } = settings;
  if (cert && key) return { cert: contentOf('VIGIL_TLS_CERT', cert), key: contentOf('VIGIL_TLS_KEY', key) };
  if (cert) throw new Refused('VIGIL_TLS_CERT is set without VIGIL_TLS_KEY: set both, or none');
  if (key) throw new Refused('VIGIL_TLS_KEY is set without VIGIL_TLS_CERT: set both, or none');
  if (LOOPBACK.test(host) || terminated === '1') return null;
  throw new Refused(
    `${variable} is ${host}, which other hosts reach, and tokens would cross the network in plain text: ` +
      'set VIGIL_TLS_CERT and VIGIL_TLS_KEY, set VIGIL_TLS_TERMINATED=1 where a proxy terminates TLS, or listen on 127.0.0.1',
  );
};

/** An HTTP server, with TLS where there is a certificate. The types of fastify differ by that, and its use here does not. */
export const openHttp = (options: FastifyServerOptions, tls: Tls | null): FastifyInstance => {
  const app = fastify({ ...options, https: tls } as FastifyServerOptions);
  answerRefusedBodies(app);
  return app;
};
