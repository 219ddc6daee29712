import { expect, it } from 'vitest';
import { javaMajor, requireDisk } from './requirements.ts';

it('the version of Java is read from its output, in the old and the new format', () => {
  expect(javaMajor('openjdk version "17.0.15" 2025-04-15')).toBe(17);
  expect(javaMajor('java version "1.8.0_401"')).toBe(8);
  expect(javaMajor('openjdk version "25" 2025-09-16')).toBe(25);
});

it('no Java is not a version', () => expect(javaMajor('bash: java: command not found')).toBeNull());

it('a disk with exactly the required space is enough', () => expect(() => requireDisk('/x', 2e9, 2e9)).not.toThrow());

it('a disk with too little free space is refused with both figures', () => {
  expect(() => requireDisk('/x', 2e9, 1.2e9)).toThrow('1.2 GB are free on the disk of /x and 2.0 GB are needed');
});
