import { expect, test } from 'vitest';
import { TryLater, Undeliverable } from '../delivery/sink.ts';
import { linear } from './linear.ts';
import { alertEvent, answeringWith, failureOf, receiver, resolvedEvent, sinkDeps } from './sinks.fixture.ts';

const KEY = 'lin_api_hunter2';
const open = (url: string) =>
  linear.open('linear', linear.settings.parse({ kind: 'linear', url, api_key_env: 'LINEAR_KEY' }), {
    ...sinkDeps,
    env: { LINEAR_KEY: KEY },
  });
const blocked = () =>
  alertEvent({
    route: 'recovery_failed',
    blocked: { attempts: 3, limit: 2, reason: '2 of 2 attempts used', endedByItself: false },
  });
const crashed = () =>
  alertEvent({
    route: 'recovery_failed',
    blocked: { attempts: 3, limit: 2, reason: '2 of 2 attempts used: ended: crashed', endedByItself: true },
  });
const COMMENT = 'Auto-blocked: agent stalled 3 times. Checkpoint: none. Requires manual investigation.';

/** Linear with one issue, whose team has these states. */
const workspace = (states: readonly string[] = ['Todo', 'Blocked']) => {
  const issue = { state: 'Todo', comments: [] as string[] };
  const calls: { readonly query: string; readonly variables: Record<string, string> }[] = [];
  const server = receiver(({ body }, response) => {
    const { query, variables } = JSON.parse(body);
    calls.push({ query, variables });
    if (query.startsWith('mutation')) {
      issue.state = variables.state.replace('state-', '');
      if (query.includes('commentCreate')) issue.comments.push(variables.body);
      return void response.end(JSON.stringify({ data: { issueUpdate: { success: true } } }));
    }
    const named = states.filter((state) => state.toLowerCase() === variables.state.toLowerCase());
    const comments = issue.comments.filter((one) => one === variables.body).map((id) => ({ id }));
    const nodes = named.map((state) => ({ id: `state-${state}` }));
    const found = { id: 'uuid-1', team: { states: { nodes } }, comments: { nodes: comments } };
    response.end(JSON.stringify({ data: { issue: variables.issue === 'OMN-1234' ? found : null } }));
  });
  return { issue, calls, server };
};

test('the issue of a task that is blocked is moved to Blocked with the comment, in two calls', async () => {
  const { issue, calls, server } = workspace();
  await using linearServer = await server;
  await open(linearServer.url).deliver(blocked());
  expect(issue).toEqual({ state: 'Blocked', comments: [COMMENT] });
  expect(calls).toHaveLength(2);
  expect(linearServer.received[0]?.headers).toMatchObject({ authorization: KEY });
});

test('the comment on a task whose agent crashed has the reason, and counts no stalls', async () => {
  const { issue, server } = workspace();
  await using linearServer = await server;
  await open(linearServer.url).deliver(crashed());
  expect(issue.comments).toEqual([
    'Auto-blocked: 2 of 2 attempts used: ended: crashed. Checkpoint: none. Requires manual investigation.',
  ]);
});

test('a repetition adds no second comment', async () => {
  const { issue, server } = workspace();
  await using linearServer = await server;
  const sink = open(linearServer.url);
  for (let n = 0; n < 2; n += 1) await sink.deliver(blocked());
  expect(issue.comments).toEqual([COMMENT]);
});

test('other alerts, an end, and a task without an issue make no call', async () => {
  const { calls, server } = workspace();
  await using linearServer = await server;
  const sink = open(linearServer.url);
  await sink.deliver(alertEvent());
  await sink.deliver(resolvedEvent());
  await sink.deliver({ ...blocked(), payload: { ...blocked().payload, taskId: 'build' } } as ReturnType<
    typeof blocked
  >);
  expect(calls).toEqual([]);
});

test('a team without the state, and an issue of another workspace, are permanent errors with a remedy', async () => {
  await using without = await workspace(['Todo']).server;
  const noState = await failureOf(open(without.url).deliver(blocked()));
  expect(noState).toBeInstanceOf(Undeliverable);
  expect((noState as Error).message).toBe(
    'the team of OMN-1234 has no state Blocked: add it, or set `state` of the channel',
  );
  await using other = await answeringWith(200, { data: { issue: null } });
  expect(((await failureOf(open(other.url).deliver(blocked()))) as Error).message).toContain('no issue OMN-1234');
});

test('a limited rate, which Linear answers with 400, is waited out; another error of GraphQL is permanent', async () => {
  const limited = { errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] };
  await using busy = await answeringWith(400, limited);
  expect(await failureOf(open(busy.url).deliver(blocked()))).toBeInstanceOf(TryLater);
  const invalid = { errors: [{ message: 'Entity not found', extensions: { code: 'INPUT_ERROR' } }] };
  await using refusing = await answeringWith(400, invalid);
  expect(await failureOf(open(refusing.url).deliver(blocked()))).toBeInstanceOf(Undeliverable);
  await using denied = await answeringWith(401, {});
  const error = await failureOf(open(denied.url).deliver(blocked()));
  expect((error as Error).message).toContain('give it a valid API key');
  expect((error as Error).message).not.toContain('hunter2');
});
