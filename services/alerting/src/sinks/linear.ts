import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import { z } from 'zod';
import { blockedComment, IDENTIFIER } from '../adapters/omniclaude-friction.ts';
import { cut } from '../delivery/message.ts';
import { deliveringTo, type Kind, type SinkDeps, TryLater, Undeliverable } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { secretOf } from './secret.ts';

const REMEDIES: Remedies = { ...GONE, 401: 'give it a valid API key' };

const FIND = `query($issue: String!, $state: String!, $body: String!) {
  issue(id: $issue) {
    id
    team { states(filter: { name: { eqIgnoreCase: $state } }) { nodes { id } } }
    comments(filter: { body: { eq: $body } }) { nodes { id } }
  }
}`;
const MOVE = 'issueUpdate(id: $issue, input: { stateId: $state }) { success }';
const COMMENT = 'commentCreate(input: { issueId: $issue, body: $body }) { success }';

const found = z.object({
  issue: z.object({
    id: z.string(),
    team: z.object({ states: z.object({ nodes: z.array(z.object({ id: z.string() })) }) }),
    comments: z.object({ nodes: z.array(z.object({ id: z.string() })) }),
  }),
});

/**
 * Moves the issue of a task that is blocked, and comments on it, in two calls. Other alerts, and tasks without an issue, are left
 * out. A repetition adds no second comment.
 */
export const linear: Kind<'linear'> = {
  settings: KIND_SETTINGS.linear,
  open: (name, channel, deps) => {
    const { url, state, timeout } = channel;
    const key = secretOf(name, 'api_key', SECRETS.linear.api_key, channel, deps);
    const call = (query: string, variables: object) => request(url, key, timeout, { query, variables }, deps);
    return deliveringTo(name, async (alert) => {
      const body = blockedComment(alert);
      const issue = alert.payload.taskId ?? '';
      if (body === null || !IDENTIFIER.test(issue)) return;
      const read = found.safeParse(await call(FIND, { issue, state, body }));
      if (!read.success) throw new Undeliverable(`Linear has no issue ${issue}: is it of another workspace?`);
      const { id, team, comments } = read.data.issue;
      const stateId = team.states.nodes[0]?.id;
      if (stateId === undefined)
        throw new Undeliverable(`the team of ${issue} has no state ${state}: add it, or set \`state\` of the channel`);
      if (comments.nodes.length > 0)
        await call(`mutation($issue: String!, $state: String!) { ${MOVE} }`, { issue: id, state: stateId });
      else
        await call(`mutation($issue: String!, $state: String!, $body: String!) { ${MOVE} ${COMMENT} }`, {
          issue: id,
          state: stateId,
          body,
        });
    });
  },
};

const answer = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(z.object({ message: z.string(), extensions: z.object({ code: z.string().optional() }).optional() }))
    .optional(),
});

const request = async (
  url: string,
  key: string,
  timeout: number,
  content: object,
  deps: Pick<SinkDeps, 'now'>,
): Promise<unknown> => {
  const headers = { authorization: key };
  const text = await post(
    { url, headers, body: JSON.stringify(content), timeout, remedies: REMEDIES, alsoRead: [400] },
    deps,
  );
  const read = answer.safeParse(jsonOf(text));
  if (!read.success) throw new TryLater('Linear answered no JSON of GraphQL');
  const [error] = read.data.errors ?? [];
  if (error === undefined) return read.data.data;
  if (error.extensions?.code === 'RATELIMITED') throw new TryLater(`Linear limits the rate: ${error.message}`);
  throw new Undeliverable(`Linear refuses it: ${cut(error.message, 300)}`);
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
