import { expect, test } from 'vitest';
import { isAcceptedHost } from './hosts.ts';

const NAMES = ['vigil.example'];

test.each(['localhost', 'localhost:7420', 'LOCALHOST', 'a.localhost:1', '127.0.0.1:7420', '[::1]:7420', '10.1.2.3'])(
  'the Host %s is accepted without configuration',
  (host) => {
    expect(isAcceptedHost(host, [])).toBe(true);
  },
);

test('a name that is configured is accepted with any port, in any case', () => {
  for (const host of ['vigil.example', 'vigil.example:443', 'Vigil.Example'])
    expect(isAcceptedHost(host, NAMES)).toBe(true);
});

test.each([
  undefined,
  '',
  'attacker.example',
  'attacker.example:7420',
  'vigil.example.attacker.example',
  'attacker-vigil.example',
  'notlocalhost',
  'localhost.attacker.example',
  '127.0.0.1.attacker.example',
  'attacker.example#localhost',
  'localhost@attacker.example',
  'localhost/attacker.example',
  'a b',
])('the Host %j is refused', (host) => {
  expect(isAcceptedHost(host, NAMES)).toBe(false);
});
