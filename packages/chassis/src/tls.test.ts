import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openHttp, tlsFor } from './tls.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-tls-'));
afterAll(() => rmSync(dir, { recursive: true }));
const VIGIL_TLS_CERT = path.join(dir, 'cert.pem');
const VIGIL_TLS_KEY = path.join(dir, 'key.pem');
writeFileSync(VIGIL_TLS_CERT, 'the certificate');
writeFileSync(VIGIL_TLS_KEY, 'the key');
const on = (host: string, settings = {}) => tlsFor(host, 'VIGIL_GATEWAY_HOST', settings);

test.each(['127.0.0.1', '127.8.9.1', 'localhost', '::1'])('a server listens on %s without a certificate', (host) => {
  expect(on(host)).toBeNull();
});

test.each(['0.0.0.0', '::', '10.0.0.5', 'gateway.example', '127.evil.example'])('it refuses %s without one', (host) => {
  expect(() => on(host)).toThrow(`VIGIL_GATEWAY_HOST is ${host}, which other hosts reach`);
  expect(() => on(host, { VIGIL_TLS_TERMINATED: '0' })).toThrow('set VIGIL_TLS_CERT and VIGIL_TLS_KEY');
});

test('it listens in plain text beyond this host where configuration names a proxy that terminates TLS', () => {
  expect(on('0.0.0.0', { VIGIL_TLS_TERMINATED: '1' })).toBeNull();
});

test('a certificate is used on every address, this host included', () => {
  for (const host of ['0.0.0.0', '127.0.0.1'])
    expect(on(host, { VIGIL_TLS_CERT, VIGIL_TLS_KEY })).toEqual({ cert: 'the certificate', key: 'the key' });
});

test('half a pair is refused, and a missing file is named', () => {
  expect(() => on('127.0.0.1', { VIGIL_TLS_CERT })).toThrow('VIGIL_TLS_CERT is set without VIGIL_TLS_KEY');
  expect(() => on('127.0.0.1', { VIGIL_TLS_KEY })).toThrow('VIGIL_TLS_KEY is set without VIGIL_TLS_CERT');
  const missing = { VIGIL_TLS_CERT, VIGIL_TLS_KEY: '/nowhere' };
  expect(() => on('127.0.0.1', missing)).toThrow('VIGIL_TLS_KEY names /nowhere, which cannot be read');
});

/** Made for this test, valid until 2126: it signs itself, for localhost. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUTDtYIaUJZ5wk7dr8Gr9RQoqOvFMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNTA0MTQxOFoYDzIxMjYxMTAx
MDQxNDE4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAR/SDm0K2p+9xzLs5UnwqZpqemLhI2NnPlNv1J4bjqteyGBWgaoG9Yw
2CbEfdlmyY637Ne5ya/4MY1u2nRvW1dDo28wbTAdBgNVHQ4EFgQUA/FXejAqXAJo
3UmqHfawex83n7YwHwYDVR0jBBgwFoAUA/FXejAqXAJo3UmqHfawex83n7YwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhALocPNvPgYh4Tpf8AJwuUu+6d8DckiWgFJcLSOmY96/6AiBT
k8RvUyvt0xEMETZt13N6oN1H7XjOM+UDeSlbLHTKrg==
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2NPNgS7TDObm46to
bzhI+Wnwvx5AeigvSYpCf3RnV1GhRANCAAR/SDm0K2p+9xzLs5UnwqZpqemLhI2N
nPlNv1J4bjqteyGBWgaoG9Yw2CbEfdlmyY637Ne5ya/4MY1u2nRvW1dD
-----END PRIVATE KEY-----
`;

test('a server with a certificate answers over TLS, and not in plain text', async () => {
  const app = openHttp({}, { cert, key });
  app.get('/', () => ({ answered: true }));
  await using _ = { [Symbol.asyncDispose]: () => app.close() };
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  expect(url).toMatch(/^https:/);
  const status = await new Promise((resolve, reject) => {
    request(url, { ca: cert }, (response) => resolve(response.resume().statusCode))
      .once('error', reject)
      .end();
  });
  expect(status).toBe(200);
  await expect(fetch(url.replace('https:', 'http:'))).rejects.toThrow();
});
