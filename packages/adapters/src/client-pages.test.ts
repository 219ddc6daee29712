import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { adapters } from './adapters.ts';

const HEADING = '## What Vigil does to it, and what it never does';

/** The section of the client's page about Vigil's actions, on one line. */
const sectionOf = (name: string): string => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/clients', `${name}.md`), 'utf8');
  return (page.split(HEADING)[1]?.split('\n## ')[0] ?? '').replace(/\s+/g, ' ');
};

describe.each(adapters.map((adapter) => [adapter.name, adapter] as const))('the page of %s', (name, adapter) => {
  const section = sectionOf(name);
  const command = adapter.install.binary;

  test('names the command line that resumes a session', () => {
    const resumed = adapter.resume({ command, args: [] }, 'SESSION', 'TEXT');
    expect(section).toContain(`\`${[resumed?.command, ...(resumed?.args ?? [])].join(' ')}\``);
  });

  test('names options with which a session cannot be resumed, and no others, or states that there is none', () => {
    const sentence = /Impossible with .*?\./.exec(section)?.[0] ?? '';
    const options = [...sentence.matchAll(/`(--[^`]+)`/g)].map(([, option = '']) => option);
    expect(options.length > 0).not.toBe(section.includes('Possible with every option'));
    for (const option of options)
      expect([option, adapter.resume({ command, args: option.split(' ') }, 'SESSION', 'TEXT')]).toEqual([option, null]);
  });

  test('names the key that interrupts a turn, and that nothing interrupts a client without input', () => {
    const how = adapter.interrupt({ headless: false, streamsEvents: false, printsProgress: false });
    expect(how).toEqual({ kind: 'key', data: '\x1b' });
    expect(adapter.interrupt({ headless: true, streamsEvents: false, printsProgress: true }).kind).not.toBe('key');
    expect(section).toMatch(/`interrupt`.{1,12}Esc/);
    expect(section).toContain('not interrupted');
  });
});
