import { adapters } from '@vigil/adapters';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { installed, withHooks, withoutHooks } from './settings.ts';

const FILE = 'settings.json';
const COMMAND = "test ! -e '/opt/vigil.mjs' || exec node '/opt/vigil.mjs' hook --client claude-code";
const hook = (command: string) => ({ type: 'command', command, timeout: 5 });
const EVENTS = ['PreToolUse', 'Stop'];
const install = (text: string, command = COMMAND) => withHooks(text, FILE, () => hook(command), EVENTS);
const uninstall = (text: string) => withoutHooks(text, FILE);

const OTHERS = `{
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

test('a file with nothing in it gets the hook and nothing else', () => {
  const entry = [{ hooks: [{ type: 'command', command: COMMAND, timeout: 5 }] }];
  expect(JSON.parse(install('{}\n'))).toEqual({ hooks: { PreToolUse: entry, Stop: entry } });
  expect(install('{}\n')).toMatch(/^\{\n {2}"hooks": \{\n {4}"PreToolUse"/);
  expect(install('{}\n').endsWith('}\n')).toBe(true);
});

test('all that was there is there still, byte for byte: comments, order, unknown fields, other hooks, the way it is written', () => {
  // Two insertions: what stands before, between and after them is the file as it was.
  const [first = '', second = ''] = ['"./audit.sh"}]}', '"SomethingNew": [{"x": 1}]'];
  const [start, middle] = [OTHERS.indexOf(first) + first.length, OTHERS.indexOf(second) + second.length];
  const after = install(OTHERS);
  expect(after.startsWith(OTHERS.slice(0, start))).toBe(true);
  expect(after).toContain(OTHERS.slice(start, middle));
  expect(after.endsWith(OTHERS.slice(middle))).toBe(true);
  expect(after).toContain(`"SomethingNew": [{"x": 1}],
        "Stop": [
            {
                "hooks": [`);
});

test.each([
  ['other hooks', OTHERS],
  ['other hooks, with tabs', OTHERS.replaceAll('    ', '\t')],
  ['other hooks, with carriage returns', OTHERS.replaceAll('\n', '\r\n')],
  ['no hooks', '{\n  "model": "opus",\n  "env": { "A": "b" }\n}\n'],
  ['nothing in it', '{}\n'],
  ['everything on one line', '{"model":"opus"}'],
  ['only a comment', '{\n // keep me\n}\n'],
  ['a comment behind its brace', '{// keep me\n}'],
  ['only white space', '{ \n}\n'],
  ['no hooks yet', '{"hooks":{}}'],
  ['no hooks yet, on its own lines', '{\n  "a": 1,\n  "hooks": {\n  }\n}\n'],
  ['no hooks yet but a comment', '{\n  "hooks": {\n    // none so far\n  }\n}\n'],
  ['a comment before its hooks', '{"a":1, // c\n "hooks":{} }'],
  ['an empty event', '{"hooks":{"Stop":[]}}'],
  ['an empty event on its own lines', '{\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n'],
  ['a comment in an empty event', '{"hooks": {"Stop": [ // only a comment\n ]}}'],
  ['a block comment in an empty event', '{"hooks": {"Stop": [/* a, b */]}}'],
  ['comments behind the last', '{\n  "a": 1 // the last\n  // and more\n}\n'],
  ['commas that trail', '{\n  "a": 1,\n  "hooks": { "Stop": [{"x": 1},], },\n}\n'],
])('taken out again, a file with %s is as it was', (_, text) => {
  expect(install(text)).not.toBe(text);
  expect(uninstall(install(text))).toBe(text);
});

const gap = fc.constantFrom('', ' ', '\n', '\n    ', ' // a, b }\n', '/* [ , */', '\r\n');
const anyOf = (open: string, close: string, items: fc.Arbitrary<string>, maxLength = 1) =>
  fc
    .tuple(fc.array(fc.tuple(gap, items, gap), { maxLength }), gap)
    .map(([all, end]) => `${open}${all.map((one) => one.join('')).join(',') || end}${close}`);
const stop = fc
  .tuple(gap, anyOf('[', ']', fc.constant('{"x": 1}'), 2))
  .map(([between, list]) => `"Stop":${between}${list}`);
const noHooks = fc.constantFrom('"a": 1', '"b": [ 2 ]');
const someHooks = anyOf('{', '}', fc.oneof(stop, fc.constant('"New": []')));
const settings = fc.tuple(gap, noHooks, gap, someHooks, gap, fc.boolean());
test('an uninstall restores the file, with any comments and white space in any place', () => {
  const same = (text: string): void => void expect(uninstall(install(text))).toBe(text);
  fc.assert(fc.property(anyOf('{', '}', fc.constant('"a": 1')), same));
  fc.assert(
    fc.property(settings, ([g1, other, g2, hooks, g3, isFirst]) => {
      const both = [`${g1}${other}${g2}`, `"hooks":${hooks}${g3}`];
      same(`{${(isFirst ? both.reverse() : both).join(',')}}`);
    }),
  );
});

test.each([
  ['none yet', '{"hooks":{}}'],
  ['a comment', '{"hooks": {"Stop": [ // only a comment\n ]}}'],
  ['nothing', '{ /* a */ }'],
])('where there is %s it is installed all the same, once', (_, text) => {
  expect(installed(install(text), FILE).events.toSorted()).toEqual(['PreToolUse', 'Stop']);
  expect(install(install(text))).toBe(install(text));
});

test('taken out, it leaves the comments that were written around it since', () => {
  const entry = JSON.stringify([{ hooks: [{ type: 'command', command: COMMAND }] }]);
  expect(uninstall(`{"a":1, // of a, not of hooks\n "hooks":{"Stop":${entry}}}`)).toBe(
    '{"a":1 // of a, not of hooks\n }',
  );
  expect(uninstall(`{"hooks":{"Stop":${entry}} /* b, next */, // c\n "b":1}`)).toBe('{ /* b, next */ // c\n "b":1}');
  expect(uninstall(`{\n  "hooks":{\n // ours\n "Stop":${entry}}\n}`)).toBe('{\n  "hooks":{\n // ours\n }\n}');
});

test('installed twice it is installed once', () => {
  expect(install(install(OTHERS))).toBe(install(OTHERS));
  expect(install(install('{}\n'))).toBe(install('{}\n'));
});

test('a vigil that has moved is the same hook with another command', () => {
  const moved = COMMAND.replaceAll('/opt', '/srv');
  expect(install(install(OTHERS), moved)).toBe(install(OTHERS, moved));
});

/** What install writes for the clients that post. */
const postsTo = (gateway: string) =>
  adapters.flatMap(({ name, install: { http } }) =>
    http === null ? [] : [(event: string) => http(`${gateway}/v1/hooks/${name}`, event)],
  );

test('an event has the hook that is made for it, and an older one of another time limit is renewed', () => {
  const made = (event: string) => ({ ...hook(COMMAND), timeout: event === 'Stop' ? 5 : 3660 });
  const changed = withHooks(install(OTHERS), FILE, made, EVENTS);
  expect(installed(changed, FILE).hooks.map((one) => one.hook.timeout)).toEqual([3660, 5]);
  expect(uninstall(changed)).toBe(OTHERS);
});

test('a hook of another kind takes the place of the first, and leaves the file as it was', () => {
  const [http = () => ({})] = postsTo('http://127.0.0.1:7600');
  const changed = withHooks(install(OTHERS), FILE, http, EVENTS);
  expect(installed(changed, FILE).hooks.map((one) => one.hook)).toEqual(EVENTS.map(http));
  expect(uninstall(changed)).toBe(OTHERS);
});

test('a hook that posts to an earlier gateway is replaced, and taken out to the byte', () => {
  const here = postsTo('http://127.0.0.1:7600');
  expect(here.length).toBeGreaterThan(0);
  for (const [index, earlier] of postsTo('https://vigil.example.com:8443').entries()) {
    const before = withHooks(OTHERS, FILE, earlier, EVENTS);
    const now = here[index] ?? (() => ({}));
    const after = withHooks(before, FILE, now, EVENTS);
    expect(installed(after, FILE).hooks.map((one) => one.hook)).toEqual(EVENTS.map(now));
    expect(uninstall(after)).toBe(OTHERS);
  }
});

test.each([
  ['no headers', undefined],
  ['other headers', { authorization: 'Bearer $TOKEN' }],
  ['a header of the same name', { 'vigil-agent': 'a-1' }],
])(
  "a hook with %s that posts to an address like the gateway's is another program's: it stays, byte for byte",
  (_, headers) => {
    const foreign = { type: 'http', url: 'https://hooks.example.com/v1/hooks/slack', headers };
    const text = `${JSON.stringify({ hooks: { Stop: [{ hooks: [foreign] }] } }, null, 4)}\n`;
    expect(installed(text, FILE).events).toEqual([]);
    expect(uninstall(text)).toBe(text);
    expect(uninstall(install(text))).toBe(text);
    expect(JSON.parse(install(text)).hooks.Stop).toContainEqual({ hooks: [JSON.parse(JSON.stringify(foreign))] });
  },
);

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
  ['{"hooks": []}', /"hooks" is not an object/],
  ['{"hooks": {"Stop": {}}}', /"hooks.Stop" is not a list/],
  ['{"hooks": {},\n "hooks": {}}', /is not changed: "hooks" is in it twice \(the second at line 2, column 2\)/],
  ['{"hooks": {"Stop": [], "Stop": []}}', /"Stop" is in it twice \(the second at line 1, column 24\)/],
])('%s is refused with the reason, not repaired', (text, why) => {
  expect(() => install(text)).toThrow(why);
  expect(() => uninstall(text)).toThrow(why);
});

test('the installed hooks can be shown', () => {
  expect(installed(install(OTHERS), FILE)).toEqual({
    events: ['PreToolUse', 'Stop'],
    hooks: [
      { event: 'PreToolUse', hook: hook(COMMAND) },
      { event: 'Stop', hook: hook(COMMAND) },
    ],
  });
});
