import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EXAMPLE_TIME } from '@vigil/events/examples';
import { KIND_SETTINGS, type SinkKind } from '@vigil/policy/channels';
import { afterAll, expect, test } from 'vitest';
import { consoleSink } from '../sinks/console.ts';
import { opened } from '../sinks/kinds.ts';
import { alertEvent, answeringWith, SECRET, sinkDeps } from '../sinks/sinks.fixture.ts';
import { deliver } from './delivery.ts';
import { plainEvent } from './message.ts';
import { type AlertEvent, deliveringTo, type Sink } from './sink.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-plain-'));
afterAll(() => rmSync(folder, { recursive: true }));

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSAFE = /[\u200b-\u200d\u2060\ufeff\p{Bidi_Control}\u{e0000}-\u{e007f}\u009b]|\u001b|\\u001b/u;
/** What an agent writes to hide a command, or to turn the text around. */
const HIDING = 'rm\u200b -rf\u202e \u{e0041}\u2060\ufeff\u001b[2J\u009b';

const hostile = (): AlertEvent =>
  alertEvent({
    ...{ title: HIDING, text: `one ${HIDING}\ntwo`, labels: { [`team${HIDING}`]: HIDING }, sinks: ['one'] },
    deliverAt: EXAMPLE_TIME,
    blocked: { attempts: null, limit: null, reason: HIDING, endedByItself: false },
    questions: [
      {
        ...{ name: 'Which', header: HIDING, text: HIDING, isMultiple: false },
        options: [{ label: HIDING, description: HIDING, preview: HIDING }],
      },
    ],
  });

const react = (sink: Sink) =>
  deliver(sink, {
    ...{ now: () => EXAMPLE_TIME, random: () => 0, pause: async () => {}, report: async () => {} },
    ...{ newest: { after: () => null }, delivered: new Set() },
  });

/** An answer with which each receiver is content. */
const ISSUE = { id: 'i', team: { states: { nodes: [{ id: 's' }] } }, comments: { nodes: [] } };
const CONTENT = { ok: true, ts: '1700.1', messages: [], data: { issue: ISSUE }, status: 'success' };

const OUTPUT = path.join(folder, 'command.txt');
const WRITE = `process.stdin.toArray().then((all) => require('fs').writeFileSync(process.argv[1], process.argv[2] + all.join('')))`;

const SETTINGS: Readonly<Record<SinkKind, (url: string) => object>> = {
  slack: (url) => ({ url: `${url}/api/`, channel: 'C0123ABCD', token_env: 'TOKEN' }),
  slack_webhook: () => ({ url_env: 'ADDRESS' }),
  ntfy: (url) => ({ url, topic: 'alerts' }),
  pagerduty: (url) => ({ url, routing_key_env: 'TOKEN' }),
  alertmanager: (url) => ({ url }),
  linear: (url) => ({ url, api_key_env: 'TOKEN' }),
  webhook: (url) => ({ url, secret_env: 'SECRET' }),
  command: () => ({ argv: [process.execPath, '-e', WRITE, OUTPUT, '{title} {text}'] }),
  files: () => ({ root: folder }),
};

/** All files below a folder. */
const filesIn = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'utf8'));

test.each(Object.keys(SETTINGS) as SinkKind[])(
  'no hidden or turning character of an agent’s text leaves by a channel of the kind %s',
  async (kind) => {
    await using server = await answeringWith(200, CONTENT);
    const env = { TOKEN: 'xoxb-token', SECRET, ADDRESS: server.url };
    const settings = KIND_SETTINGS[kind].parse({ kind, ...SETTINGS[kind](server.url) });
    expect(await react(opened('one', settings as never, { ...sinkDeps, env }))(hostile())).toHaveLength(2);
    const posted = server.received.map(({ body }) => decodeURIComponent(body.replaceAll('+', ' ')));
    const sent = [...posted, ...filesIn(folder)].join('\n');
    expect(sent).toContain('rm');
    expect(sent).not.toMatch(UNSAFE);
  },
);

test('the console prints none of them either', async () => {
  const printed: string[] = [];
  const written = hostile();
  const event = { ...written, payload: { ...written.payload, sinks: ['console'] } } as AlertEvent;
  await react(consoleSink((line) => void printed.push(line), ['console']))(event);
  expect(printed).toHaveLength(1);
  expect(printed[0]).not.toMatch(UNSAFE);
});

test('a hidden character is shown, lines stay lines, and joiners of a script or an emoji stay', () => {
  const { title, text } = plainEvent(alertEvent({ title: 'rm\u200ball', text: 'one\ntwo\u0007 می‌خواهم 👩‍💻' })).payload;
  expect([title, text]).toEqual(['rm\uFFFDall', 'one\ntwo  می‌خواهم 👩‍💻']);
});

test('the names by which answers and repetitions are recognised are those of the log', () => {
  const event = hostile();
  const { alertId, alertKey, caseId, options, sinks } = event.payload as Extract<
    AlertEvent,
    { readonly type: 'ALERT_RAISED' }
  >['payload'];
  expect(plainEvent(event)).toMatchObject({
    eventId: event.eventId,
    payload: { alertId, alertKey, caseId, options, sinks, deadlineAt: null },
  });
});

test('the event of the log keeps what the agent wrote', async () => {
  const event = hostile();
  await react(deliveringTo('one', async () => {}))(event);
  expect(event.payload.title).toBe(HIDING);
});
