import { expect, test } from 'vitest';
import { installed, withHooks, withoutHooks } from './settings.ts';

const FILE = 'settings.json';
const COMMAND = "test ! -e '/opt/vigil.mjs' || exec node '/opt/vigil.mjs' hook";
const EVENTS = ['PreToolUse', 'Stop'];
const install = (text: string, command = COMMAND) => withHooks(text, FILE, command, EVENTS);
const uninstall = (text: string) => withoutHooks(text, FILE);

const others = `{
    // what the team has agreed on
    "permissions": {"allow": ["Bash(npm run test:*)"],   "deny": []},
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./audit.sh"}]}
        ],
        "SomethingNew": [{"x": 1}]
    },
    "unknown": [1,2,
      3]
}
`;

test('a file that is not there gets the hook and nothing else', () => {
  const entry = [{ hooks: [{ type: 'command', command: COMMAND, timeout: 5 }] }];
  expect(JSON.parse(install(''))).toEqual({ hooks: { PreToolUse: entry, Stop: entry } });
  expect(install('')).toMatch(/^\{\n {2}"hooks": \{\n {4}"PreToolUse"/);
  expect(install('').endsWith('}\n')).toBe(true);
});

test('all that was there is there still, byte for byte: comments, order, unknown fields, other hooks, the way it is written', () => {
  // Two insertions: what stands before, between and after them is the file as it was.
  const [first = '', second = ''] = ['"./audit.sh"}]}', '"SomethingNew": [{"x": 1}]'];
  const [start, middle] = [others.indexOf(first) + first.length, others.indexOf(second) + second.length];
  const after = install(others);
  expect(after.startsWith(others.slice(0, start))).toBe(true);
  expect(after).toContain(others.slice(start, middle));
  expect(after.endsWith(others.slice(middle))).toBe(true);
  expect(after).toContain(`"SomethingNew": [{"x": 1}],
        "Stop": [
            {
                "hooks": [`);
});

test.each([
  ['other hooks', others],
  ['other hooks, with tabs', others.replaceAll('    ', '\t')],
  ['other hooks, with carriage returns', others.replaceAll('\n', '\r\n')],
  ['no hooks', '{\n  "model": "opus",\n  "env": { "A": "b" }\n}\n'],
  ['nothing in it', '{}\n'],
  ['everything on one line', '{"model":"opus"}'],
])('taken out again, a file with %s is as it was', (_, text) => {
  expect(install(text)).not.toBe(text);
  expect(uninstall(install(text))).toBe(text);
});

test('installed twice it is installed once', () => {
  expect(install(install(others))).toBe(install(others));
  expect(install(install(''))).toBe(install(''));
});

test('a vigil that has moved is the same hook with another command', () => {
  const moved = COMMAND.replaceAll('/opt', '/srv');
  expect(install(install(others), moved)).toBe(install(others, moved));
});

test('a hook among others in one group goes alone', () => {
  const hooks = [
    { type: 'command', command: './a.sh' },
    { type: 'command', command: 'vigil hook' },
  ];
  const text = JSON.stringify({ hooks: { Stop: [{ hooks }] } }, null, 2);
  expect(JSON.parse(uninstall(text))).toEqual({ hooks: { Stop: [{ hooks: [hooks[0]] }] } });
});

test('a command that only looks like it is left alone', () => {
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: './not-vigil hook' }] }] } });
  expect(uninstall(text)).toBe(text);
  expect(installed(text, FILE).events).toEqual([]);
});

test.each([
  ['{"a": }', /cannot be read as JSON \(ValueExpected at line 1, column 7\)/],
  ['[]', /holds no object/],
  ['{"hooks": []}', /"hooks" is no object/],
  ['{"hooks": {"Stop": {}}}', /"hooks.Stop" is no list/],
])('%s is refused with the reason, not mended', (text, why) => {
  expect(() => install(text)).toThrow(why);
  expect(() => uninstall(text)).toThrow(why);
});

test('what is in it can be told', () => {
  expect(installed(install(others), FILE)).toEqual({ events: ['PreToolUse', 'Stop'], commands: [COMMAND] });
});
