import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { append, spoolFile } from '@vigil/hook/spool';
import { recordOf, started } from '@vigil/hook/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import { spoolOf } from '../agent/agent-spec.ts';
import { interrupt, liveOn, nudge, type Stage, scriptSpec, setStage } from '../testing/stage.ts';
import { drawnClient, drawnClientScript, RETRYING_CLIENT_SCRIPT } from './drawn-client.fixture.ts';

let stage: Stage;
let instance: Supervised;
let shown = '';

beforeEach(async () => {
  stage = await setStage();
  shown = '';
});
afterEach(async () => {
  await instance.end('the test is over', 0);
  await instance.ended;
  await stage.close();
});

const start = async (script: string, headless: boolean | null) => {
  const clients = headless === null ? [] : [drawnClient(headless)];
  const spec = scriptSpec(script, { nudge: 'auto' });
  instance = await liveOn({ ...stage, deps: { ...stage.deps, clients } }, spec, 80, (data) => {
    shown += data;
  });
  instance.begin();
};
const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 });
const receipts = () =>
  stage.gateway.reports.flatMap((report) => (report.type === 'ORDER_RECEIPT' ? [report.payload] : []));
const last = () => stage.gateway.heartbeats.at(-1);
const file = () => join(stage.dir, 'received');
const received = () => (existsSync(file()) ? readFileSync(file(), 'utf8').trimEnd().split('\n') : []);

test('a client at its prompt receives the text as one paste and Enter as a separate key, and the receipt is delivered', async () => {
  await start(drawnClientScript(file(), 'never'), false);
  stage.gateway.offer(nudge({ message: 'write a checkpoint\nwithin 2 \u001b[201~ minutes' }));
  await until(() => expect(receipts()).toMatchObject([{ orderId: 'nudge-1', outcome: 'delivered', why: null }]));
  expect(received()).toEqual(['paste:write a checkpoint within 2  [201~ minutes', 'key:"\\r"']);
});

test('a dialog that opens between the paste and Enter gets no key', async () => {
  await start(drawnClientScript(file(), 'at_paste'), false);
  stage.gateway.offer(nudge({ message: 'within 2 minutes y' }));
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'failed' }]));
  expect(receipts()[0]?.why).toContain('a dialog opened: its question is "Run it?"');
  await until(() => expect(last()?.activity).toBe('awaiting_input'));
  expect(received()).toEqual(['paste:within 2 minutes y']);
});

test('nothing is typed into a dialog; it is reported as a wait until a person answers it, and the text follows then', async () => {
  await start(drawnClientScript(file(), 'at_start'), false);
  await until(() => expect(last()).toMatchObject({ activity: 'awaiting_input', waiting_for: { kind: 'permission' } }));
  expect(last()?.waiting_for?.text).toBe('Run it?');
  stage.gateway.offer(nudge({ message: 'y 1 2' }));
  const seen = stage.gateway.heartbeats.length;
  await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(seen + 5));
  expect(received()).toEqual([]);
  instance.terminal.write('y');
  await until(() => expect(last()?.waiting_for?.kind).toBe('prompt'));
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'delivered' }]));
  expect(received()).toEqual(['key:"y"', 'paste:y 1 2', 'key:"\\r"']);
});

test('a raw-mode program without an adapter gets no key, its receipt has the reason, and its silence is not reported', async () => {
  await start(drawnClientScript(file(), 'at_start'), null);
  await until(() => expect(shown).toContain('Run it?'));
  instance.offer(nudge(), 3000);
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'expired' }]));
  expect(receipts()[0]?.why).toMatch(/it waited: .*alternate screen/);
  await until(() => expect(last()?.output).toMatchObject({ last_output_at: null, lines: null }));
  expect(last()?.activity).toBeNull();
  expect(received()).toEqual([]);
});

test('a client that reads no input is not typed at, and the receipt reports that at once', async () => {
  await start('echo drawn-client; sleep 600', true);
  await until(() => expect(shown).toContain('drawn-client'));
  stage.gateway.offer(nudge());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'failed' }]));
  expect(receipts()[0]?.why).toContain('reads no input');
  expect(shown).not.toContain('are you still there');
});

test('a password prompt gets no nudge in its line: nothing is typed without echo', async () => {
  await start('stty -echo; echo ready; while read line; do echo "got=$line"; done', null);
  await until(() => expect(shown).toContain('ready'));
  instance.offer(nudge(), 3000);
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'expired' }]));
  expect(receipts()[0]?.why).toContain('without echo');
  expect(shown).not.toContain('got=');
});

test('a client that works is interrupted by its key, and gets the text at its prompt', async () => {
  await start(drawnClientScript(file(), 'never'), false);
  await until(() => expect(shown).toContain('> '));
  instance.terminal.write('\r');
  await until(() => expect(last()?.activity).toBe('working'));
  stage.gateway.offer(interrupt({ message: 'what holds you up' }));
  await until(() => expect(receipts()).toMatchObject([{ kind: 'interrupt', outcome: 'done', why: null }]));
  expect(received()).toEqual(['key:"\\r"', 'key:"e"', 'paste:what holds you up', 'key:"\\r"']);
});

test('no key is pressed in a dialog to interrupt a client', async () => {
  await start(drawnClientScript(file(), 'at_start'), false);
  await until(() => expect(last()?.activity).toBe('awaiting_input'));
  stage.gateway.offer(interrupt());
  await until(() => expect(receipts()).toMatchObject([{ outcome: 'superseded' }]));
  expect(received()).toEqual([]);
});

test('a client that is back at its prompt while a turn is open was interrupted, though no hook reports it', async () => {
  await start(drawnClientScript(file(), 'never'), false);
  const record = recordOf([started('c', Date.now())]);
  append(join(spoolOf(stage.dir, instance.spec.instanceId), spoolFile(record.client, record.session)), record);
  await until(() =>
    expect(stage.gateway.heartbeats.flatMap(({ tool_calls }) => tool_calls)[0]).toMatchObject({
      call_id: 'c',
      outcome: 'running',
    }),
  );
  await until(() => expect(last()).toMatchObject({ activity: 'awaiting_input', turn: { open: false } }));
  expect(stage.gateway.heartbeats.flatMap(({ tool_calls }) => tool_calls).at(-1)).toMatchObject({
    call_id: 'c',
    outcome: 'abandoned',
  });
});

test('a client whose screen shows that a limit refuses its requests is rate limited while its turn is open, though no hook reports it', async () => {
  await start(RETRYING_CLIENT_SCRIPT, false);
  const record = recordOf([{ kind: 'turn_started', at: Date.now(), agent: null }]);
  append(join(spoolOf(stage.dir, instance.spec.instanceId), spoolFile(record.client, record.session)), record);
  await until(() =>
    expect(stage.gateway.heartbeats.map(({ activity }) => activity)).toEqual(
      expect.arrayContaining(['working', 'rate_limited']),
    ),
  );
  await until(() => expect(stage.gateway.heartbeats.filter(({ rate_limit }) => rate_limit).length).toBeGreaterThan(1));
});
