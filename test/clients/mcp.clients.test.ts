import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { bundleOf } from '@vigil/dev';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holds, until } from '../support/system.ts';
import { seenOf } from './seen.ts';
import { headless, interactive, openStage, type Stage } from './stage.ts';

const MINUTE = 60_000;
const COMMAND = 'packages/mcp/commands/agent_healthcheck.md';
const repository = path.resolve(import.meta.dirname, '../..');

let stage: Stage;
beforeAll(async () => {
  stage = await openStage('mcp', ['claude-code']);
});
afterAll(() => stage?.stop());

/** `vigil mcp` on standard input and output, as Claude Code reads it from `--mcp-config`. */
const vigilMcp = (): string => {
  const { VIGIL_DASHBOARD_URL, VIGIL_DASHBOARD_TOKEN } = stage.system.system.env;
  const env = { VIGIL_DASHBOARD_URL, VIGIL_DASHBOARD_TOKEN };
  const server = { command: process.execPath, args: [bundleOf('vigil'), 'mcp'], env };
  return JSON.stringify({ mcpServers: { vigil: server } });
};

/** The results of the tools that the model of a session has received, as text. */
const resultsOf = (requests: readonly { readonly inputs: readonly string[] }[]): readonly string[] =>
  (requests.at(-1)?.inputs ?? []).filter((text) => text.startsWith('{"'));

test('Claude Code checks an agent by /agent_healthcheck, and its decision lets the agent continue', async () => {
  const worker = await stage.start(
    interactive('claude-code', 'needsPermission', { policy: 'vigil', moreArgs: ['--permission-mode', 'manual'] }),
  );
  const waiting = await until('the request of the worker is in the inbox', async () => {
    const { stdout } = await stage.system.vigil('inbox', '--json');
    return /"id": ?"(request\/[^"]+)"/.exec(stdout)?.[1];
  });
  const approved = path.join(worker.place.project, 'approved.txt');
  expect(existsSync(approved)).toBe(false);

  const task = `T-${worker.name}`;
  const allowed = ['--allowedTools', 'mcp__vigil__get_worker_health_summary', 'mcp__vigil__decide'];
  const checker = await stage.start(
    headless('claude-code', 'checksAgents', {
      skipsPermissions: false,
      prompt: `/agent_healthcheck ${task}`,
      // The other tools are allowed by the command file.
      moreArgs: ['--strict-mcp-config', '--mcp-config', vigilMcp(), '--permission-mode', 'manual', ...allowed],
      files: { '.claude/commands/agent_healthcheck.md': readFileSync(path.join(repository, COMMAND), 'utf8') },
    }),
  );
  expect(await checker.ended).toBe(0);
  expect(checker.output()).toContain(`${worker.name} of ${task} waited for ${waiting}, which is allowed.`);

  const [agents, health, summary, inbox, decided] = resultsOf(checker.requests()).map((text) => JSON.parse(text));
  expect(agents.agents).toContainEqual(
    expect.objectContaining({ agent_id: worker.name, task_id: task, state: 'HEALTHY' }),
  );
  expect(health).toMatchObject({ status: 'healthy', stall_reason: null, vigil_state: 'HEALTHY' });
  expect([worker.name, checker.name]).toContain(summary.worker_agent_id);
  expect(summary).toMatchObject({ session_status: 'in_progress', knowledge: { blind_since: null } });
  expect(inbox.items).toMatchObject([{ id: waiting, kind: 'permission', agent_id: worker.name }]);
  expect(decided).toEqual({ requested: expect.any(String) });

  await until('the allowed command has run', async () => existsSync(approved), MINUTE);
  await holds(async () => expect((await stage.system.vigil('inbox', '--json')).stdout).not.toContain(waiting), MINUTE);
  expect(seenOf(stage, worker.name).orders()).toEqual([]);
});
