import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { castFiles, readCast, readmeOf, recordingsDir } from './cast.ts';

const casts = castFiles().map(readCast);

describe('the terminal recordings', () => {
  it('are listed in their page with what each one shows', () => {
    expect(readFileSync(path.join(recordingsDir, 'README.md'), 'utf8')).toBe(readmeOf(casts));
  });

  it.each(casts)('$file has each word of its screen at least once, and is small', ({ file, marks, output }) => {
    expect(marks.map(({ situation }) => situation)).not.toEqual([]);
    for (const { situation } of marks) expect(['dialog', 'prompt', 'busy', 'other']).toContain(situation);
    expect(output.length).toBeGreaterThan(0);
    expect(statSync(path.join(recordingsDir, file)).size).toBeLessThan(200_000);
  });
});
