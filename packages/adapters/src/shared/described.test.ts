import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describedCall, forPeople, redacted } from './described.ts';

test.each([
  ['curl -H "Authorization: Bearer s3cr3t-v4lue" https://x', 's3cr3t-v4lue'],
  ["export API_KEY='s3cr3t v4lue'; ./run", 's3cr3t v4lue'],
  ['OPENAI_API_KEY=s3cr3t-v4lue node x.mjs', 's3cr3t-v4lue'],
  ['mysql --password=s3cr3t-v4lue db', 's3cr3t-v4lue'],
  ['vault login --token s3cr3t-v4lue', 's3cr3t-v4lue'],
  ['psql postgres://app:s3cr3t-v4lue@db/app', 's3cr3t-v4lue'],
  ['curl -u ada:s3cr3t-v4lue https://x', 's3cr3t-v4lue'],
  ['{"client_secret": "s3cr3t-v4lue"}', 's3cr3t-v4lue'],
  ['echo ghp_abcdefghijklmnop0123456789', 'abcdefghijklmnop'],
  ['echo glpat-abcdefghijklmnop0123', 'abcdefghijklmnop'],
  ['aws configure set x AKIAABCDEFGHIJKLMNOP', 'AKIAABCDEFGHIJKLMNOP'],
  ['echo "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----"', 'MIIEabc'],
])('%s is shown without its secret', (text, secret) => {
  expect(redacted(text)).not.toContain(secret);
  expect(redacted(text)).toContain('[redacted]');
});

test.each(['rm -rf build', 'git push origin main', 'npm test -- --unit packages/tokens', 'ls -la /etc/passwd'])(
  '%s is shown as it is',
  (text) => expect(redacted(text)).toBe(text),
);

test('a call is its tool with its command or file, and the reason', () => {
  expect(describedCall('Bash', { command: 'rm -rf build', description: 'clean up' })).toBe(
    'Bash: rm -rf build (clean up)',
  );
  expect(describedCall('Write', { file_path: '/a/b.txt', content: 'x' })).toBe('Write: /a/b.txt');
  expect(describedCall('mcp__db__query', { sql: 'select 1', limit: 5 })).toBe('mcp__db__query: sql=select 1, limit=5');
  expect(describedCall('Bash', null)).toBe('Bash');
});

test('a long text is cut between characters, and no control character is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
      const shown = forPeople(text);
      expect(shown.length).toBeLessThanOrEqual(1000);
      expect(shown).not.toMatch(/\p{Cc}/u);
    }),
  );
  expect(forPeople(`a\u001b[2J${'😀'.repeat(2000)}`).isWellFormed()).toBe(true);
});

test('a secret at the cut leaves no half of it', () => {
  const text = `${'x'.repeat(990)} TOKEN=abcdefghijklmnopqrstuvwxyz`;
  expect(forPeople(text)).not.toContain('abc');
});
