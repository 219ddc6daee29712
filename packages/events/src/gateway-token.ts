import { createHmac } from 'node:crypto';

/** The bearer of a gateway token: a runtime reports for the agents it runs, an agent for itself. */
export type Bearer = { readonly kind: 'runtime' | 'agent'; readonly name: string };

/** The least length of a secret from which tokens are made: as many characters as a SHA-256 has bytes. */
export const LEAST_SECRET = 32;

/**
 * `v1.<kind>.<name>.<mac>`: only with the secret can one make the mac of a name (HMAC-SHA256 of `<kind>:<name>`,
 * base64url).
 */
export const gatewayToken = (secret: string, { kind, name }: Bearer): string =>
  `v1.${kind}.${name}.${createHmac('sha256', secret).update(`${kind}:${name}`).digest('base64url')}`;
