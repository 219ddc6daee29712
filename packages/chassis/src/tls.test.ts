import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tlsFor } from './tls.ts';

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
