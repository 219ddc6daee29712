import { includesRole, ROLES, type Role } from '@vigil/read-model/people';
import { describe, expect, test } from 'vitest';
import { agent, dashboard } from '../app.fixture.ts';
import { type Command, ROLE_OF_COMMAND } from '../commands/command.ts';
import { ROLE_OF_ROUTE } from './roles.ts';

/** The token of each role: see CALLERS of the fixture. */
const TOKENS: Readonly<Record<Role, string>> = {
  viewer: 'viewer',
  responder: 'responder',
  operator: 'operator',
  admin: 'a-token-for-tests-only',
};

/** A command of each kind that is executed for a role that has it. A new command does not compile without one. */
const COMMANDS: Readonly<Record<Command['kind'], object>> = {
  decide_case: { caseId: 'case-1', decision: 'pardon' },
  request_step: { agentId: 'worker-1', step: 'nudge' },
  hold: { agentId: 'worker-1' },
  release: { agentId: 'worker-1' },
  block_task: { taskId: 'T-1', attempts: 3 },
  reset_breaker: { agentId: 'worker-1', name: 'external_api' },
  confirm_death: { agentId: 'worker-1', instanceId: 'i1' },
  host_gone: { host: 'h1' },
  halt: {},
  resume: {},
  lift_brake: {},
  dry_run: { on: true },
  answer_request: { requestId: 'request-1', option: 'allow' },
  review_task: { taskId: 'T-1', decision: 'retry' },
  apply_policy: { name: 'vigil', document: null },
  file_ticket: { agentId: 'worker-1', ticketId: 't-1', severity: 'high', cause: 'it edits the same line' },
  notify_operator: { ticketId: 't-1', urgency: 'high' },
  acknowledge: { alertId: 'alert-1' },
  silence: { matchers: [{ field: 'route', value: 'stuck_agent' }], forMs: 1000 },
  end_silence: { silenceId: 'silence-1' },
  resolve_alert: { alertId: 'alert-1' },
  test_channel: { channel: 'ops' },
};
const KINDS = Object.keys(COMMANDS) as Command['kind'][];

const opened = () =>
  dashboard({
    agents: async () => [{ ...agent, host: 'h1', state: 'STUCK' }],
    runtimes: async () => [],
    policies: async () => [{ name: 'vigil', origin: 'applied' }],
    task: async () => ({ taskId: 'T-1', recovery: 'REVIEW_REQUIRED' }),
  });

describe.each(ROLES)('a %s', (role) => {
  const authorization = `Bearer ${TOKENS[role]}`;

  test.each(KINDS)(
    'that sends %s is refused and writes nothing, unless the role includes that of the command',
    async (kind) => {
      const { app, written } = opened();
      const payload = { kind, by: 'ada', why: 'because', ...COMMANDS[kind] };
      const answer = await app.inject({ method: 'POST', url: '/v1/commands', headers: { authorization }, payload });
      const isIncluded = includesRole(role, ROLE_OF_COMMAND[kind]);
      expect(answer.statusCode).toBe(isIncluded ? 202 : 403);
      expect(written).toHaveLength(isIncluded ? 1 : 0);
      if (!isIncluded) expect(answer.json().detail).toContain(`${kind} needs the role ${ROLE_OF_COMMAND[kind]}.`);
    },
  );
});

const OTHERS = ['', 'Bearer', 'Bearer unknown', 'Basic dmVyYTp2aWV3ZXI=', 'viewer'];

test.each(Object.entries(ROLE_OF_ROUTE))(
  '%s, for the role %s, is closed to a caller without a token, unless it has no data',
  async (route, role) => {
    const { app, written } = opened();
    const [method, url] = route
      .replaceAll(':id', 'worker-1')
      .replaceAll(':name', 'vigil')
      .replace('*', 'app.js')
      .split(' ') as ['GET', string];
    for (const authorization of OTHERS) {
      const { statusCode } = await app.inject({
        method,
        url,
        headers: { authorization },
        ...(method !== 'GET' && { payload: {} }),
      });
      if (role === 'public') expect(statusCode).not.toBe(401);
      // Without a link, a route of links has no question to show.
      else expect(statusCode).toBe(role === 'link' ? 400 : 401);
    }
    expect(written).toEqual([]);
  },
);
