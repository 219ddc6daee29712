import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolCall } from '@vigil/events';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import { liveOn, type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';
import { type LoggedStall, StallLog } from './stall-log.ts';
import { noStateFiles } from './state-files.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const logged = (folder: string): readonly Record<string, unknown>[] =>
  (existsSync(folder) ? readdirSync(folder) : []).flatMap((day) =>
    readFileSync(join(folder, day), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
const finding = (foundAt: number) => ({ foundAt, reason: 'no call for 3 min', axes: ['absence'] });

describe('the dispatch log', () => {
  const NOW = Date.UTC(2026, 3, 2, 14, 30);
  const [
    {
      tool_calls: [usual],
    },
  ] = [example(Topic.heartbeat, 'HEARTBEAT').payload];
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vigil-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const bash = (timeoutMs: number): ToolCall => ({
    ...(usual as ToolCall),
    ...{ tool: 'Bash', started_at: NOW - 192_000, ended_at: null, deadline_at: NOW - 192_000 + timeoutMs },
  });
  const recovery = { max_attempts: 2, reset_attempts: 'by_people' };
  const open = (
    before: LoggedStall | null = null,
    attempt = 0,
    lastCall: ToolCall | null = bash(1000),
    more: object | null = {},
  ) => {
    const policyDocument = more === null ? undefined : { recovery, ...more };
    const monitor = { policy: null, policyDocument, startedAt: NOW - 300_000, lastCall };
    const spec = scriptSpec('', { files: { ...noStateFiles, dispatchLog: folder }, attempt });
    const clock = { now: () => NOW, monotonic: () => 0 };
    const none = () => Promise.reject(new Error('the gateway is not needed'));
    const gateway = {
      sendHeartbeat: none,
      policy: none,
      report: none,
      orders: none,
      request: none,
      withdraw: none,
      terminal: none,
    };
    return new StallLog({ clock, gateway, logger: () => {} }, spec, monitor, before);
  };
  const settled = () => new Promise(setImmediate);

  test('has a stall when the gateway reports the finding, with the time since the last call', async () => {
    open().found(finding(NOW - 1000));
    await settled();
    expect(logged(folder)).toEqual([
      {
        timestamp_utc: '2026-04-02T14:30:00Z',
        event: 'stall_detected',
        ticket_id: 'TASK-1',
        agent_id: 'worker-1',
        stall_reason: 'inactivity',
        idle_minutes: 3.2,
        bash_timeout_exemption: false,
        redispatch_attempt: 1,
        max_redispatches: 2,
        action: 'kill_and_redispatch',
      },
    ]);
  });

  test('has the time since the start of an agent that never called', async () => {
    open(null, 0, null).found(finding(NOW - 1000));
    await settled();
    expect(logged(folder)).toMatchObject([{ idle_minutes: 5, bash_timeout_exemption: false }]);
  });

  test('has it once, however often the finding is reported, and not again with the order that ends the agent', async () => {
    const stalls = open();
    stalls.found(finding(NOW - 1000));
    stalls.found(finding(NOW - 1000));
    stalls.found({ ...finding(NOW), reason: 'no call for 4 min' });
    await stalls.ordered(terminate({ axes: ['absence'] }));
    await settled();
    expect(logged(folder)).toHaveLength(1);
  });

  test('has the next stall of the agent after one that has passed, and none that an older answer reports again', async () => {
    const stalls = open();
    stalls.found(finding(NOW - 2000));
    stalls.found(null);
    stalls.found(finding(NOW - 2000));
    await settled();
    expect(logged(folder)).toHaveLength(1);
    stalls.found(finding(NOW - 1000));
    await settled();
    expect(logged(folder)).toHaveLength(2);
  });

  test('has none twice over a change of supervisor', async () => {
    const first = open();
    first.found(finding(NOW - 1000));
    const next = open(first.memory);
    next.found(finding(NOW - 1000));
    await next.ordered(terminate({ axes: ['absence'] }));
    await settled();
    expect(logged(folder)).toHaveLength(1);
  });

  test('has a stall whose order comes before the answer, and not again with that answer', async () => {
    const stalls = open();
    await stalls.ordered(terminate({ axes: ['absence'] }));
    stalls.found(finding(NOW + 1));
    await settled();
    expect(logged(folder)).toHaveLength(1);
  });

  test('has no stall where a person or the end of a rival orders the end', async () => {
    await open().ordered(terminate({ axes: [] }));
    expect(logged(folder)).toEqual([]);
  });

  describe('the exemption of a long Bash call', () => {
    const preset = { after: '2m', from_start: true, applies_to: ['Bash'], buffer: '60s', deadlines_above: '120s' };
    const edit = { ...bash(600_000), tool: 'Edit' };
    test.each([
      ['a timeout of two minutes extends no limit', { no_calls: preset }, bash(120_000), false],
      ['a longer one does', { no_calls: preset }, bash(120_001), true],
      ['another tool does not', { no_calls: preset }, edit, false],
      ['another figure of the policy: at it', { no_calls: { ...preset, deadlines_above: 300 } }, bash(300_000), false],
      ['another figure: above it', { no_calls: { ...preset, deadlines_above: '5m' } }, bash(300_001), true],
      ['a limit beyond the timeout and its buffer', { no_calls: { ...preset, after: '10m' } }, bash(540_000), false],
      ['a limit a little less', { no_calls: { ...preset, after: '10m' } }, bash(540_001), true],
      ['another tool of the policy', { quiet: { ...preset, is: 'no_calls', applies_to: ['Edit'] } }, edit, true],
      ['a policy without such a limit', { no_output: { after: '2m' } }, bash(600_000), false],
      ['a policy that is not known', null, bash(600_000), false],
    ])('%s', async (_, signals, call, isExempt) => {
      await open(null, 0, call, signals && { signals }).ordered(terminate({ axes: ['absence'] }));
      expect(logged(folder)).toMatchObject([{ bash_timeout_exemption: isExempt }]);
    });
  });

  describe('a stall that was found before its policy came', () => {
    const cwd = () => folder;
    const document = { recovery: { max_attempts: 2 }, files: { dispatch_log: 'log' } };
    const applied = () => {
      const monitor = { policy: null as string | null, policyDocument: undefined as unknown };
      const own = { startedAt: NOW - 300_000, lastCall: bash(1000) };
      const spec = scriptSpec('', { files: noStateFiles, cwd: cwd() });
      const clock = { now: () => NOW, monotonic: () => 0 };
      const none = () => Promise.reject(new Error('the gateway is not needed'));
      const policy = async (name: string) =>
        name === 'omniclaude' ? { document } : { document: { recovery: { max_attempts: 2 } } };
      const gateway = {
        sendHeartbeat: none,
        policy,
        report: none,
        orders: none,
        request: none,
        withdraw: none,
        terminal: none,
      };
      const judged = {
        ...own,
        get policy() {
          return monitor.policy;
        },
        get policyDocument() {
          return monitor.policyDocument;
        },
      };
      const reopen = (before: LoggedStall | null) =>
        new StallLog({ clock, gateway, logger: () => {} }, spec, judged, before);
      return { monitor, reopen, stalls: reopen(null) };
    };
    const lines = () => logged(join(folder, 'log')).map(({ event }) => event);

    test('is in the log once, from the first answer under the policy on', async () => {
      const { monitor, stalls } = applied();
      stalls.found(finding(NOW - 1000));
      await settled();
      monitor.policy = 'vigil';
      stalls.found(finding(NOW - 1000));
      await settled();
      expect(lines()).toEqual([]);
      Object.assign(monitor, { policy: 'omniclaude', policyDocument: document });
      for (let times = 0; times < 3; times += 1) {
        stalls.found(finding(NOW - 1000));
        await settled();
      }
      await stalls.ordered(terminate({ axes: ['absence'] }));
      expect(lines()).toEqual(['stall_detected']);
    });

    test('is in the log by the order that ends the agent, where no answer comes in between', async () => {
      const { monitor, stalls } = applied();
      stalls.found(finding(NOW - 1000));
      await settled();
      Object.assign(monitor, { policy: 'omniclaude', policyDocument: document });
      await stalls.ordered(terminate({ axes: ['absence'] }));
      expect(lines()).toEqual(['stall_detected']);
    });

    test('is in the log over a change of supervisor, and not at all where it has passed', async () => {
      const { monitor, stalls, reopen } = applied();
      stalls.found(finding(NOW - 1000));
      await settled();
      Object.assign(monitor, { policy: 'omniclaude', policyDocument: document });
      stalls.found(null);
      await settled();
      expect(lines()).toEqual([]);
      const next = reopen({ foundAt: NOW - 1000, lasts: true, isWritten: false });
      next.found(finding(NOW - 1000));
      await settled();
      expect(lines()).toEqual(['stall_detected']);
    });
  });

  test('escalates with the third stall', async () => {
    open(null, 1).found(finding(NOW));
    open(null, 2).found(finding(NOW));
    await settled();
    expect(logged(folder)).toMatchObject([
      { redispatch_attempt: 2, action: 'kill_and_redispatch' },
      { redispatch_attempt: 3, max_redispatches: 2, action: 'escalate_to_blocked' },
    ]);
  });
});

describe('an agent that is supervised', () => {
  let stage: Stage;
  let instance: Supervised | null = null;
  beforeEach(async () => {
    stage = await setStage();
  });
  afterEach(async () => {
    await instance?.end('the test is over', 0).then(() => instance?.settled);
    await stage.close();
  });
  const log = () => logged(join(stage.dir, 'log')).map(({ event }) => event);
  const start = async () => {
    const files = { ...noStateFiles, dispatchLog: join(stage.dir, 'log') };
    instance = await liveOn(stage, scriptSpec('sleep 600', { files }), 80, () => {});
    await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(0));
  };

  test('has its stall in the log before any order comes, while it works on', async () => {
    await start();
    expect(log()).toEqual([]);
    stage.gateway.finding = finding(Date.now());
    await until(() => expect(log()).toEqual(['stall_detected']));
    const { length } = stage.gateway.heartbeats;
    await until(() => expect(stage.gateway.heartbeats.length).toBeGreaterThan(length + 2));
    expect([log(), instance?.isOver()]).toEqual([['stall_detected'], false]);
  });

  test('that a person stops, while an order for a finding is on its way, has no stall in the log', async () => {
    await start();
    instance?.expectEnd('stopped by ada');
    instance?.offer(terminate({ axes: ['absence'] }), 5000);
    await instance?.settled;
    expect(log()).toEqual([]);
  });
});
