import { expect, test } from 'vitest';
import { stateDir, stateDirOf } from './supervising.ts';

const usual = stateDir({});
const inFolders =
  (...folders: readonly string[]) =>
  (dir: string) =>
    folders.includes(dir);

test('an agent of the demonstration fleet is found in its folder, and any other one in the usual folder', () => {
  expect(stateDirOf({ fleetDir: '/fleet' }, 'waits', inFolders('/fleet'))).toBe('/fleet');
  expect(stateDirOf({ fleetDir: '/fleet' }, 'waits', inFolders('/fleet', usual))).toBe(usual);
  expect(stateDirOf({ fleetDir: '/fleet' }, 'missing', inFolders())).toBe(usual);
  expect(stateDirOf({}, 'waits', inFolders('/fleet'))).toBe(usual);
});

test('a folder that is named is the only one', () => {
  expect(stateDirOf({ dir: '/named', fleetDir: '/fleet' }, 'waits', inFolders('/fleet'))).toBe('/named');
});
