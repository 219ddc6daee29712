import { createSecretKey } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { type DecisionLink, ExpiredLink, InvalidLink, LONGEST_LINK_MS, signLink, verifyLink } from './decision-link.ts';

const KEY = 'a-key-for-tests-only-of-some-length';
const link: DecisionLink = {
  kind: 'decide_case',
  subject: 'case-1',
  decision: 'pardon',
  channel: 'ops',
  deadlineAt: 900_000,
  sentAt: 1_000,
};

test('a link is read back as it was signed, until its question is over', async () => {
  const token = await signLink(KEY, link);
  expect(await verifyLink(KEY, token, 899_999)).toEqual(link);
  await expect(verifyLink(KEY, token, 900_000)).rejects.toThrow(ExpiredLink);
});

test('a link to a question without a deadline, or with a later one, expires after a day', async () => {
  const end = 1_000 + LONGEST_LINK_MS;
  for (const deadlineAt of [null, 2 * LONGEST_LINK_MS]) {
    const token = await signLink(KEY, { ...link, deadlineAt });
    expect(await verifyLink(KEY, token, end - 1)).toEqual({ ...link, deadlineAt });
    await expect(verifyLink(KEY, token, end)).rejects.toThrow(ExpiredLink);
  }
});

test('a repeated delivery has the same link, and each choice, subject and channel another', async () => {
  const token = await signLink(KEY, link);
  expect(await signLink(KEY, link)).toBe(token);
  for (const other of [{ decision: 'allow_more_time' }, { subject: 'case-2' }, { channel: 'other' }])
    expect(await signLink(KEY, { ...link, ...other })).not.toBe(token);
});

const forged = (claims: object) =>
  new SignJWT({ ...link, sub: link.subject, ...claims }).setProtectedHeader({ alg: 'HS256' });
const key = createSecretKey(Buffer.from(KEY));

test.each([
  ['another key', () => signLink(`${KEY}x`, link)],
  ['no signature', async () => new UnsecuredJWT({ ...link, iss: 'vigil-alerting', aud: 'vigil-dashboard' }).encode()],
  ['no issuer', () => forged({ aud: 'vigil-dashboard', exp: 900 }).sign(key)],
  ['no audience', () => forged({ iss: 'vigil-alerting', exp: 900 }).sign(key)],
  ['no expiry', () => forged({ iss: 'vigil-alerting', aud: 'vigil-dashboard' }).sign(key)],
  [
    'an unknown kind',
    () => forged({ iss: 'vigil-alerting', aud: 'vigil-dashboard', exp: 900, kind: 'halt' }).sign(key),
  ],
  ['other text', async () => 'text'],
  ['no text', async () => ''],
])('a link with %s is invalid', async (_, token) => {
  await expect(verifyLink(KEY, await token(), 1_000)).rejects.toThrow(InvalidLink);
});

test('a link whose choice was changed is invalid', async () => {
  const [head, , signature] = (await signLink(KEY, link)).split('.');
  const [, body] = (await signLink(`${KEY}x`, { ...link, decision: 'force_handoff' })).split('.');
  await expect(verifyLink(KEY, `${head}.${body}.${signature}`, 1_000)).rejects.toThrow(InvalidLink);
});
