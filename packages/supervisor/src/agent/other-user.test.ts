import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import { socketPath } from '../messages/agent-socket.ts';
import type { Report } from '../orders/order.ts';
import { writeHandover } from '../orders/spawn.ts';
import { findHostUser, type HostUser } from '../process/host-user.ts';
import { openTestCgroups } from '../testing/cgroups.ts';
import { dispatching, type Stage, scriptSpec, setStage, spawn } from '../testing/stage.ts';
import type { Supervised } from './agent-instance.ts';
import { type AgentSpec, handoverOf, spoolOf } from './agent-spec.ts';
import { supervise, superviseHosted } from './supervise.ts';

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const SIZE = { columns: 200, rows: 24 };

describe.runIf(isRoot)('an agent of another user', () => {
  let stage: Stage;
  let deps: AgentDeps;
  let user: HostUser;
  /** that every user may enter */
  let open: string;
  let work: string;
  const instances: Supervised[] = [];
  beforeEach(async () => {
    const found = findHostUser('nobody');
    if (found === null) throw new Error('this host lacks the user `nobody`');
    user = found;
    stage = await setStage();
    open = mkdtempSync(join(tmpdir(), 'vigil-user-'));
    chmodSync(open, 0o711);
    work = join(open, 'work');
    mkdirSync(work);
    spawnSync('chown', [String(user.uid), work]);
    deps = dispatching({ ...stage.deps, socketDir: join(open, 's') }, () => instances, stage.killAfterMs);
  });
  afterEach(async () => {
    for (const one of instances.splice(0)) await one.end('the test is over', 0).then(() => one.settled);
    await stage.close();
    rmSync(open, { recursive: true, force: true });
  });

  const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
  const reported = <T extends Report['type']>(type: T) =>
    stage.gateway.reports.flatMap((report) =>
      report.type === type ? [report.payload as Extract<Report, { type: T }>['payload']] : [],
    );
  const start = async (script: string, more: Partial<AgentSpec> = {}): Promise<Supervised> => {
    const spec = scriptSpec(script, { user, cwd: work, ...more });
    const instance = await superviseHosted(spec, deps, SIZE);
    instances.push(instance);
    return instance;
  };
  /** What these commands have printed, by a script that notes how each ended. */
  const results = async (commands: readonly string[], more: Partial<AgentSpec> = {}): Promise<readonly string[]> => {
    const file = join(work, 'results');
    const lines = commands.map((one) => `{ ${one}; } >> part 2>&1; echo "$? $(tr '\\n' ' ' < part)" >> all; rm part`);
    await start(`${lines.join('; ')}; mv all results; sleep 600`, more);
    await until(() => expect(existsSync(file)).toBe(true));
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.trim());
  };
  /** Node, where every user may run it. */
  const nodeForAll = (): string => {
    const path = join(open, 'node');
    copyFileSync(process.execPath, path);
    chmodSync(path, 0o755);
    return path;
  };
  const connects = (node: string, socket: string): string =>
    `${node} -e 'require("net").connect(${socket}).on("connect", () => process.exit(0)).on("error", (e) => { console.log(e.code); process.exit(1); })'`;

  test('has the ids and the groups of its user alone, and owns its terminal', async () => {
    const [uid, groups, terminal, named] = await results(['id -u', 'id -G', 'stat -c %u "$(tty)"', ': > "$(tty)"']);
    expect(uid).toBe(`0 ${user.uid}`);
    expect(groups).toBe(`0 ${user.gid}`);
    expect(terminal).toBe(`0 ${user.uid}`);
    expect(named?.[0]).toBe('0');
  });

  test('cannot read what belongs to its runtime', async () => {
    const token = join(open, 'token');
    writeFileSync(token, 'a token', { mode: 0o600 });
    const shut = [`cat ${token}`, `cat /proc/${process.pid}/environ`, 'cat /proc/$PPID/environ', `ls ${stage.dir}`];
    for (const result of await results([...shut, `ls ${deps.socketDir}`])) {
      expect(result).toMatch(/^[1-9]/);
      expect(result).toContain('denied');
    }
  });

  test('connects to its own socket, and not to that of another agent', async () => {
    const other = await start('sleep 600', { agentId: 'worker-2', instanceId: 'instance-2', user: null });
    expect(other.isOver()).toBe(false);
    const node = nodeForAll();
    const [own, another] = await results([
      connects(node, 'process.env.VIGIL_SOCKET'),
      connects(node, JSON.stringify(socketPath(deps.socketDir, 'instance-2'))),
    ]);
    expect(own).toBe('0');
    expect(another).toBe('1 EACCES');
  });

  test('reads its hand-over and writes its spool, and both are gone after its end', async () => {
    const handover = writeHandover(deps.dir, spawn({ handover: 'continue here' }), null);
    const [read, written, spool] = await results(
      ['cat "$VIGIL_HANDOVER"', 'echo x > "$VIGIL_SPOOL/a.jsonl"', 'echo "$VIGIL_SPOOL"'],
      { handover },
    );
    expect([read, written]).toEqual(['0 continue here', '0']);
    expect(spool).toContain(spoolOf(deps.socketDir, 'instance-1'));
    expect(existsSync(handoverOf(deps.socketDir, 'instance-1'))).toBe(true);
    for (const one of instances) await one.end('the test ends it', 0).then(() => one.settled);
    expect(existsSync(handoverOf(deps.socketDir, 'instance-1'))).toBe(false);
    expect(existsSync(spoolOf(deps.socketDir, 'instance-1'))).toBe(false);
  });

  test('cannot have another file removed by a link in its spool', async () => {
    const kept = join(stage.dir, 'kept');
    mkdirSync(kept);
    writeFileSync(join(kept, 'file'), 'x');
    await results([`ln -s ${kept} "$VIGIL_SPOOL/link"`]);
    for (const one of instances) await one.end('the test ends it', 0).then(() => one.settled);
    expect(existsSync(spoolOf(deps.socketDir, 'instance-1'))).toBe(false);
    expect(existsSync(join(kept, 'file'))).toBe(true);
  });

  test('cannot leave its cgroup', async (context) => {
    const { cgroups, why, close } = openTestCgroups();
    if (cgroups === null) return context.skip(why);
    deps = { ...deps, cgroups };
    const [leaves] = await results([`echo $$ > ${cgroups.parent}/cgroup.procs`]);
    expect(leaves).toMatch(/^[1-9].*denied/);
    for (const one of instances) await one.end('the test ends it', 0).then(() => one.settled);
    close();
  });

  test('has commands at its end that run as that user', async () => {
    const who = join(work, 'who');
    await start('exit 3', { cleanup: ['/bin/sh', '-c', `id -u > ${who}; id -G >> ${who}`] });
    await until(() => expect(reported('AGENT_EXITED')).toHaveLength(1));
    expect(readFileSync(who, 'utf8')).toBe(`${user.uid}\n${user.gid}\n`);
  });

  test('does not start in a folder that it cannot enter, and the error names both', async () => {
    const shut = join(open, 'shut');
    mkdirSync(shut, { mode: 0o700 });
    await expect(start('sleep 600', { cwd: shut })).rejects.toThrow(`the user nobody cannot reach ${shut}`);
  });

  test('is ended by its runtime', async () => {
    const { terminal } = await start('trap "" TERM HUP; sleep 600 & sleep 600');
    expect(statSync(`/proc/${terminal.pid.pid}`).uid).toBe(user.uid);
    for (const one of instances) expect(await one.end('the test ends it', 0)).toMatchObject({ confirmed: true });
  });
});

test('an agent in the foreground runs as no other user', async () => {
  const stage = await setStage();
  const user = { name: 'worker', uid: 1001, gid: 1001, home: '/', shell: '/bin/sh' };
  const attached = { size: SIZE, isPiped: false, output: () => {} };
  const start = () => supervise(scriptSpec('exit 0', { user }), { ...stage.deps, onOrders: () => {} }, attached);
  expect(start).toThrow('only an agent of `vigil runtime` runs as another user');
  await stage.close();
});
