import { T0 } from '@vigil/health/fixture';
import { act, hash, is, LOOK, type PeerCase, replay, type Step, times } from './peer.ts';

const CRITICAL = is('STUCK');

/** A tool that sends answers with its own ids, as text and as fields. It changes no file of the agent. */
const send = (args: object, answer: object, tool = 'message'): Step =>
  act({ tool, args, result: { text: JSON.stringify(answer), details: answer } });
const sent = (i: number) => ({
  ok: true,
  chat: 'c1',
  run: `r-${i}`,
  messageId: `m-${i}`,
  receipt: { id: `p-${i}` },
});
const ping = { action: 'send', target: 'c1', text: 'ping' };
const twenty = (step: (i: number) => Step): Step[] => times(20, step);
const both = (answer: (i: number) => unknown) => [{ value: answer(0) }, { value: answer(1) }];

export const sends: readonly PeerCase[] = [
  hash('two answers that differ in ids', 'masked', 'alike', both(sent)),
  hash(
    'ids deep inside',
    'masked',
    'alike',
    both((i) => ({ results: [{ ok: true, result: { messageId: `m-${i}`, receipt: i } }] })),
  ),
  replay(
    'the same message twenty times',
    twenty((i) => send(ping, sent(i))),
    [CRITICAL],
  ),
  replay(
    'to another session',
    twenty((i) => send(ping, { ok: true, runId: `r-${i}` }, 'sessions_send')),
    [CRITICAL],
  ),
  replay(
    'by the tool of a provider',
    twenty((i) => send({ to: 't:1' }, sent(i), 'telegram')),
    [CRITICAL],
  ),
  replay(
    'a reply',
    twenty((i) => send({ ...ping, action: 'reply' }, sent(i))),
    [CRITICAL],
  ),
  replay(
    'a file',
    twenty((i) => send({ action: 'upload' }, { ok: true, fileId: `file-${i}` })),
    [CRITICAL],
  ),
  replay(
    'a poll',
    twenty((i) => send({ action: 'poll' }, { messageId: `m-${i}`, pollId: `q-${i}` })),
    [CRITICAL],
  ),
  replay(
    'twenty different messages',
    twenty((i) => send({ ...ping, text: `line ${i}` }, sent(i))),
    [is('HEALTHY')],
  ),
  hash(
    'reads that differ in id and time',
    'result',
    'different',
    both((i) => ({ messageId: `m-${i}`, ts: 1000 + i })),
    { differs: 'an id and a time are new in every answer, so they are nothing new' },
  ),
  hash(
    'changes that differ in id and time',
    'result',
    'different',
    both((i) => ({ messageId: `m-${i}`, time: i })),
    { differs: 'an id and a time are new in every answer, so they are nothing new' },
  ),
  hash(
    'another route',
    'masked',
    'different',
    both((i) => ({ messageId: `m-${i}`, route: { id: `conv-${'AB'[i]}` } })),
  ),
  replay(
    'the refusal of their own guard',
    [
      ...twenty((i) => send(ping, sent(i))),
      LOOK,
      act({ tool: 'message', args: ping, result: { status: 'blocked', by: 'tool-loop' }, outcome: 'error' }),
    ],
    [CRITICAL, CRITICAL],
    {
      differs:
        'a result that these arguments have not had is something new, once: the next twenty refusals are a loop again. A guard that reports the refused call without result leaves the row standing',
    },
  ),
  replay(
    'twenty refusals by a plugin',
    twenty(() => act({ tool: 'message', args: { action: 'read' }, result: 'blocked', outcome: 'error' })),
    [CRITICAL],
  ),
  replay(
    'an id that is named no more than id',
    twenty((i) => send(ping, { message: { id: `n-${i}`, conversation: { id: 'room' }, timestamp: T0 + i } })),
    [CRITICAL],
  ),
  replay(
    'another conversation each time',
    twenty((i) => send(ping, { message: { id: `n-${i}`, conversation: { id: `room-${i}` } } })),
    [is('HEALTHY', 'DEGRADED')],
    { differs: 'the rooms differ in digits alone, which masking takes for the same; a room with a name is another' },
  ),
];
