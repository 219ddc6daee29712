import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, expect, test } from 'vitest';
import { answeringWith, receiver } from '../sinks/sinks.fixture.ts';
import { askModel, type Question, type TriageModel, triageModelOf } from './model.ts';

const KEY = 'sk-hunter2hunter2';
const dir = mkdtempSync(path.join(tmpdir(), 'vigil-model-'));
afterAll(() => rmSync(dir, { recursive: true }));

const { ticket } = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET').payload;
const question: Question = { ticket, ruling: 'raise', analysis: 'severity is high: retries', change: 'dismiss' };
const at = (url: string, more: Partial<TriageModel> = {}): TriageModel => ({
  ...{ url: `${url}/v1`, name: 'small-model', key: KEY, timeoutMs: 10_000, ...more },
});
const completion = (content: string | null, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, ...more } }],
});
const says = (opinion: string, reason = 'it waits for a build') => completion(JSON.stringify({ opinion, reason }));
const asked = async (status: number, body: object, more: Partial<Question> = {}) => {
  await using server = await answeringWith(status, body);
  return { answer: await askModel(at(server.url), { ...question, ...more }), received: server.received };
};

test('the model gets the ticket as data, the decision of the rules and the opinions that it may give', async () => {
  const { received } = await asked(200, says('keep'));
  expect(received[0]).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } });
  const { model, messages } = JSON.parse(received[0]?.body ?? '');
  expect(model).toBe('small-model');
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
  expect(messages[0].content).not.toContain(ticket.worker_agent_id);
  expect(JSON.parse(messages[1].content)).toEqual({
    allowed: ['keep', 'dismiss'],
    rules: { ruling: 'raise', analysis: 'severity is high: retries' },
    ticket,
  });
});

test('a server without a key is asked without one', async () => {
  await using server = await answeringWith(200, says('keep'));
  await askModel(at(server.url, { key: null }), question);
  expect(server.received[0]?.headers.authorization).toBeUndefined();
});

test.each([
  ['keep', question.change],
  ['dismiss', 'dismiss'],
  ['raise', 'raise'],
] as const)('the opinion %s is taken where it is allowed', async (opinion, change) => {
  const { answer } = await asked(200, says(opinion), { change });
  expect(answer).toEqual({ outcome: 'answered', opinion, reason: 'it waits for a build' });
});

test.each([
  ['raise', 'dismiss'],
  ['dismiss', 'raise'],
  ['terminate', 'dismiss'],
  ['UNKNOWN', 'dismiss'],
] as const)('the opinion %s is malformed where only %s is allowed', async (opinion, change) => {
  const { answer } = await asked(200, says(opinion), { change });
  expect(answer).toMatchObject({ outcome: 'malformed', opinion: 'keep' });
});

test.each([429, 500, 401, 302])('the status %d is a failure, without the text of the server', async (status) => {
  const { answer } = await asked(status, { error: { message: `bad key ${KEY}` } });
  expect(answer).toEqual({ outcome: 'failed', opinion: 'keep', reason: `its server answered ${status}` });
});

test.each([
  ['an answer that is not a completion', { choices: [] }],
  ['an answer without JSON', completion('I would dismiss it.')],
  ['an answer without a opinion', completion('{"reason":"none"}')],
  ['an answer without a text', completion(null)],
])('%s is malformed', async (_, body) => {
  expect((await asked(200, body)).answer).toMatchObject({ outcome: 'malformed', opinion: 'keep' });
});

test('an answer that is not JSON is malformed', async () => {
  await using server = await receiver((_, response) => void response.writeHead(200).end('<html>'));
  expect(await askModel(at(server.url), question)).toMatchObject({ outcome: 'malformed', opinion: 'keep' });
});

test('a refusal is recorded as one', async () => {
  const { answer } = await asked(200, completion(null, { refusal: 'I cannot help with that' }));
  expect(answer).toEqual({ outcome: 'refused', opinion: 'keep', reason: 'it refuses to answer' });
});

test('an answer that does not come within the timeout is late', async () => {
  await using server = await receiver(() => {});
  const answer = await askModel(at(server.url, { timeoutMs: 100 }), question);
  expect(answer).toEqual({ outcome: 'late', opinion: 'keep', reason: 'no answer within 100 ms' });
});

test('a server that cannot be reached is a failure', async () => {
  const server = await answeringWith(200, {});
  await server[Symbol.asyncDispose]();
  expect(await askModel(at(server.url), question)).toMatchObject({ outcome: 'failed', opinion: 'keep' });
});

test('the reason is cut, and cannot control a terminal', async () => {
  const { answer } = await asked(200, says('keep', `\x1b[2Jdone ${'x'.repeat(500)}`));
  expect(answer.reason).toHaveLength(300);
  expect(answer.reason).not.toContain('\x1b');
});

const NONE = { VIGIL_TRIAGE_MODEL_TIMEOUT_MS: 10_000 };
const SET = { ...NONE, VIGIL_TRIAGE_MODEL_URL: 'https://api.example/v1/', VIGIL_TRIAGE_MODEL: 'small-model' };

test('without settings no model is asked', () => {
  expect(triageModelOf(NONE)).toBeNull();
});

test('the key is read from its file, without white space around it', () => {
  const file = path.join(dir, 'key');
  writeFileSync(file, `${KEY}\n`);
  expect(triageModelOf({ ...SET, VIGIL_TRIAGE_MODEL_KEY_FILE: file })).toEqual({
    ...{ url: 'https://api.example/v1', name: 'small-model', key: KEY, timeoutMs: 10_000 },
  });
  expect(triageModelOf(SET)?.key).toBeNull();
});

test('half of the settings, a missing key file and an empty one are refused with what to set', () => {
  expect(() => triageModelOf({ ...NONE, VIGIL_TRIAGE_MODEL: 'small-model' })).toThrow('set both, or neither');
  expect(() => triageModelOf({ ...SET, VIGIL_TRIAGE_MODEL: undefined })).toThrow('set both, or neither');
  expect(() => triageModelOf({ ...SET, VIGIL_TRIAGE_MODEL_KEY_FILE: '/nowhere/key' })).toThrow('cannot be read');
  const empty = path.join(dir, 'empty');
  writeFileSync(empty, '\n');
  expect(() => triageModelOf({ ...SET, VIGIL_TRIAGE_MODEL_KEY_FILE: empty })).toThrow('write the key into it');
});
