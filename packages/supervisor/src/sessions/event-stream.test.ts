import { adapters } from '@vigil/adapters';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordedLines, type StreamingClient } from '../testing/streams.ts';
import { EventStream, type EventStreamMemory, streamClientOf } from './event-stream.ts';

const lineOf = (text: string) => {
  const [command = '', ...args] = text.split(' ');
  return { command, args };
};
const commands = {
  claude: 'claude -p --output-format stream-json --verbose work',
  codex: 'codex exec --json work',
  gemini: 'gemini -p work --output-format stream-json',
} as const;

const streamAfter = (client: StreamingClient, past: ConstructorParameters<typeof EventStream>[1]) => {
  const streaming = streamClientOf(adapters, lineOf(commands[client]));
  if (streaming === null) throw new Error(`${client} prints no stream`);
  return new EventStream(streaming, past, () => {});
};

/** A stream whose first `read` bytes another supervisor has read; of these the last `kept` are still there. */
const open = (client: StreamingClient, memory: EventStreamMemory | null = null, bytes = Buffer.alloc(0), read = 0) => {
  const data = bytes.subarray(0, read);
  const past = { read, stream: memory, seen: read === 0 ? [] : [{ from: 0, at: 0, data }] };
  return streamAfter(client, past);
};
const eventsOf = (lines: readonly { readonly events: readonly unknown[] }[]) => lines.flatMap(({ events }) => events);
const printed = (client: StreamingClient, run: string, newline = '\n') =>
  Buffer.from(
    recordedLines(client, run)
      .map((line) => line + newline)
      .join(''),
  );

test.each([
  ['claude -p work', false],
  ['claude --output-format stream-json', false],
  [commands.claude, true],
  ['claude -p --output-format=stream-json work', true],
  ['codex exec work', false],
  [commands.codex, true],
  ['gemini -p work', false],
  [commands.gemini, true],
  ['sh -c work --output-format stream-json -p', false],
])('whether %s prints a stream of events is %s', (text, expected) => {
  expect(streamClientOf(adapters, lineOf(text)) !== null).toBe(expected);
});

test.each([
  ['claude', 'cc-sub'],
  ['codex', 'cx-works'],
  ['gemini', 'gm-works'],
] as const)('%s: wherever the output and the supervisor are cut, each event is read once', (client, run) => {
  const bytes = printed(client, run);
  const whole = eventsOf(open(client).read(bytes, 1000));
  expect(whole.length).toBeGreaterThan(5);
  fc.assert(
    fc.property(fc.nat(bytes.length), fc.nat(bytes.length), (first, second) => {
      const [cut, restart] = [Math.min(first, second), Math.max(first, second)];
      const stream = open(client);
      const before = [...stream.read(bytes.subarray(0, cut), 1000), ...stream.read(bytes.subarray(cut, restart), 1000)];
      const memory: EventStreamMemory = JSON.parse(JSON.stringify(stream.memory));
      const after = open(client, memory, bytes, restart).read(bytes.subarray(restart), 1000);
      expect(eventsOf([...before, ...after])).toEqual(whole);
    }),
  );
});

test('carriage returns, the title of a terminal before a line, and lines that are no events change nothing', () => {
  const whole = eventsOf(open('claude').read(printed('claude', 'cc-works'), 1));
  expect(eventsOf(open('claude').read(printed('claude', 'cc-works', '\r\n'), 1))).toEqual(whole);
  const noise = recordedLines('claude', 'cc-works').flatMap((line) => [
    'Warning: something',
    '{"type":"unknown"}',
    '{"cut',
    '[1]',
    `\u001b]0;claude\u0007\u001b[?25h${line}`,
  ]);
  expect(eventsOf(open('claude').read(Buffer.from(`${noise.join('\n')}\n`), 1))).toEqual(whole);
});

test('a last line without its newline is read at the end', () => {
  const bytes = printed('codex', 'cx-works');
  const stream = open('codex');
  const before = stream.read(bytes.subarray(0, -1), 1000);
  expect(eventsOf([...before, ...stream.end(1000)])).toEqual(eventsOf(open('codex').read(bytes, 1000)));
});

test('output that is gone costs the line that it belongs to, and no other', () => {
  const [first = '', second = '', ...others] = recordedLines('claude', 'cc-works').map((line) => `${line}\n`);
  const stream = open('claude');
  const read = stream.read(Buffer.from(first + second.slice(0, 20)), 1);
  stream.missed();
  const after = stream.read(Buffer.from(second.slice(50) + others.join('')), 1);
  const expected = open('claude').read(Buffer.from(first + others.join('')), 1);
  expect(eventsOf([...read, ...after])).toEqual(eventsOf(expected));
});

test('a supervisor that comes when the beginning of a line is gone reads from the next line on', () => {
  const bytes = printed('claude', 'cc-works');
  const newline = bytes.indexOf('\n');
  const stream = open('claude');
  stream.read(bytes.subarray(0, newline + 40), 1);
  const read = newline + 40;
  const seen = [{ from: newline + 10, at: 0, data: bytes.subarray(newline + 10, read) }];
  const past = { read, stream: stream.memory, seen };
  const next = streamAfter('claude', past);
  const rest = bytes.subarray(read);
  const expected = open('claude', stream.memory).read(rest.subarray(rest.indexOf('\n') + 1), 1);
  expect(eventsOf(next?.read(rest, 1) ?? [])).toEqual(eventsOf(expected));
});

test('a line names the session for those behind it that do not', () => {
  const lines = open('codex').read(printed('codex', 'cx-works'), 1);
  expect(new Set(lines.map(({ sessionId }) => sessionId)).size).toBe(1);
});
