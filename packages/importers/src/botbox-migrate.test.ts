import { expect, test } from 'vitest';
import { BOTBOX_DEFAULTS, migrateBotbox } from './botbox.ts';
import { imported } from './importing.fixture.ts';
import { BOTBOX_JSON } from './sources.fixture.ts';

const without = (text: string, health: string) => text.replace(health, '');

test('a file that has the section does not change, even if the section is empty', () => {
  expect(migrateBotbox(BOTBOX_JSON)).toBe(BOTBOX_JSON);
  expect(migrateBotbox('{"agents":{"health":{}}}')).toBe('{"agents":{"health":{}}}');
});

test.each([
  [
    'two spaces',
    '{\n  "version": "1.0.9",\n  "agents": {\n    "dev": { "model": "opus",  "timeout": 900 }\n  },\n  "tools": ["a",   "b"]\n}\n',
  ],
  ['tabs, no line end at the end', '{\n\t"version": "1.0.9",\n\t"agents": {\n\t\t"dev": {}\n\t}\n}'],
  ['Windows line ends', '{\r\n    "agents": {\r\n        "dev": {}\r\n    }\r\n}\r\n'],
])('%s: the defaults are written, and nothing else changes', (_, text) => {
  const migrated = migrateBotbox(text);
  expect(JSON.parse(migrated)).toEqual({
    ...JSON.parse(text),
    agents: { ...JSON.parse(text).agents, health: BOTBOX_DEFAULTS },
  });
  const added = /,(\s*)"health": \{[^}]*\}/.exec(migrated)?.[0] ?? 'nothing';
  expect(without(migrated, added)).toBe(text);
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '';
  expect(added).toContain(`\n${indent.repeat(3)}"enabled": true`);
  expect(added.includes('\r\n')).toBe(text.includes('\r\n'));
});

test('a file without agents gets them; an empty object too', () => {
  const text = '{\n  "version": "1.0.9"\n}\n';
  expect(migrateBotbox(text)).toBe(
    text.replace(
      '"1.0.9"',
      `"1.0.9",\n  "agents": {\n    "health": ${JSON.stringify(BOTBOX_DEFAULTS, null, 2).replaceAll('\n', '\n    ')}\n  }`,
    ),
  );
  const all = { agents: { health: BOTBOX_DEFAULTS } };
  expect(migrateBotbox('{}')).toBe(JSON.stringify(all, null, 2));
});

test('an object on one line stays on it', () => {
  const text = '{\n  "agents": { "dev": { "model": "opus" } },\n  "tools": []\n}\n';
  expect(migrateBotbox(text)).toBe(
    text.replace('"opus" } }', `"opus" }, "health": ${JSON.stringify(BOTBOX_DEFAULTS)} }`),
  );
});

test('the written defaults equal an import without the section', () => {
  const { yaml, unmapped } = imported('botbox', migrateBotbox('{}'));
  expect(unmapped).toEqual([]);
  expect(yaml.replaceAll(/ #.*/g, '')).toBe(imported('botbox', '{}').yaml.replaceAll(/ #.*/g, ''));
});

test('a file without a place for the section is refused, with the remedy', () => {
  expect(() => migrateBotbox('[]', 'mine.json')).toThrow(
    /^mine\.json has a mistake:\n {2}- document: is not a JSON object/,
  );
  expect(() => migrateBotbox('{"agents": []}')).toThrow(/agents: is not an object/);
  expect(() => migrateBotbox('{')).toThrow(/line 1: /);
});
