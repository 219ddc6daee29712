import type { ReplayRow, VerifyResult, WhatIfResult } from '@vigil/read-model';
import { expect, test } from 'vitest';
import {
  bodyOf,
  exportAddress,
  figuresText,
  formIn,
  instantOf,
  kindText,
  leftOutLines,
  localTime,
  OWN_TEXT,
  type ReplayForm,
  spanText,
  standingText,
  verifiedText,
  whatIfText,
} from './replays.ts';

const NOW = Date.UTC(2026, 10, 27, 14, 5, 12);
const HOUR_MS = 3_600_000;
const NEW: ReplayForm = formIn('', 0);

const ROW: ReplayRow = {
  ...{ replayId: 'r1', kind: 'verify', since: null, until: null, agentId: null, policyName: null, policyHash: null },
  ...{ insteadOf: null, by: 'ada', state: 'waiting', askedAt: NOW, begunAt: null, endedAt: null, done: 0, of: null },
  ...{ why: null, keptUntil: null },
};

test('a local time is that of the clock beside the page, and leads back to its moment', () => {
  expect(localTime(NOW, 120)).toBe('2026-11-27T16:05:12');
  expect(instantOf('2026-11-27T16:05:12', 120)).toBe(NOW);
  expect(instantOf('2026-11-27T14:05', 0)).toBe(NOW - 12_000);
  expect(instantOf('', 0)).toBeNull();
});

test('a new form is of the last hour; a link gives agent and span, whose last second is included', () => {
  expect(NEW).toMatchObject({ kind: 'verify', span: 'hour', agent: '' });
  const linked = formIn(`agent=a%26b&since=${NOW}&until=${NOW + 1}`, 60);
  expect(linked).toMatchObject({
    ...{ span: 'own', agent: 'a&b', from: '2026-11-27T15:05:12', to: '2026-11-27T15:05:13' },
  });
  expect(formIn(`since=${NOW}`, 0)).toMatchObject({ span: 'own', to: '' });
});

test('a form without a limit asks for everything that is stored', () => {
  expect(bodyOf({ ...NEW, span: 'stored' }, NOW, 0)).toEqual({ kind: 'verify' });
  expect(bodyOf({ ...NEW, span: 'own' }, NOW, 0)).toEqual({ kind: 'verify' });
  expect(bodyOf({ ...NEW, agent: ' worker-1 ' }, NOW, 0)).toEqual({
    ...{ kind: 'verify', since: NOW - HOUR_MS, agent: 'worker-1' },
  });
});

test('the file of a span is at an address with its limits and its agent, or without them', () => {
  expect(exportAddress({ ...NEW, span: 'stored' }, NOW, 0)).toBe('/v1/export');
  expect(exportAddress({ ...NEW, agent: ' a&b ' }, NOW, 0)).toBe(`/v1/export?since=${NOW - HOUR_MS}&agent=a%26b`);
});

test('a verification takes no policy, also if one was chosen before', () => {
  expect(bodyOf({ ...NEW, span: 'stored', policy: 'strict', insteadOf: 'vigil' }, NOW, 0)).toEqual({ kind: 'verify' });
});

test('a what if takes a published policy, or the YAML of a text, and asks for what is missing', () => {
  const form: ReplayForm = { ...NEW, kind: 'what_if', span: 'stored' };
  expect(bodyOf(form, NOW, 0)).toEqual({ mistake: 'Choose the policy for the span.' });
  expect(bodyOf({ ...form, policy: 'strict', insteadOf: 'vigil' }, NOW, 0)).toEqual({
    ...{ kind: 'what_if', policy: 'strict', insteadOf: 'vigil' },
  });
  expect(bodyOf({ ...form, policy: OWN_TEXT, text: ' ' }, NOW, 0)).toEqual({
    mistake: 'Write the text of the policy.',
  });
  expect(bodyOf({ ...form, policy: OWN_TEXT, text: 'policy: mine\nsignals: { no_calls: 5m }' }, NOW, 0)).toEqual({
    ...{ kind: 'what_if', document: { policy: 'mine', signals: { no_calls: '5m' } } },
  });
  expect(bodyOf({ ...form, policy: OWN_TEXT, text: 'policy: *none' }, NOW, 0)).toMatchObject({
    mistake: expect.stringContaining('*none is an alias without an anchor'),
  });
});

test('a row names what it compares, its span, and how it stands', () => {
  expect(kindText(ROW)).toBe('verify');
  expect(kindText({ ...ROW, kind: 'figures' })).toBe('figures');
  expect(kindText({ ...ROW, kind: 'what_if', policyName: 'strict', insteadOf: 'vigil' })).toBe(
    'what if strict instead of vigil',
  );
  expect(spanText(ROW, NOW, 0)).toBe('everything stored');
  expect(spanText({ ...ROW, since: NOW - HOUR_MS, until: NOW }, NOW, 0)).toBe('13:05:12 to 14:05:12');
  expect(spanText({ ...ROW, since: NOW }, NOW, 0)).toBe('from 14:05:12');
  expect(spanText({ ...ROW, until: NOW }, NOW, 0)).toBe('until 14:05:12');
  expect(standingText(ROW)).toBe('waiting');
  expect(standingText({ ...ROW, state: 'running' })).toBe('running: opening the log');
  expect(standingText({ ...ROW, state: 'running', done: 40_000, of: 120_000 })).toBe(
    'running: 40,000 of 120,000 records, 33 %',
  );
  expect(standingText({ ...ROW, state: 'failed', why: 'no memory' })).toBe('failed: no memory');
  expect(standingText({ ...ROW, state: 'cancelled', why: 'cancelled by ada' })).toBe('cancelled by ada');
});

const VERIFIED: VerifyResult = {
  ...{ kind: 'verify', observations: 94, decisions: 27, agents: 3, earlierCount: 0, earlier: [], newer: 0 },
  ...{ unreadable: 0, differentCount: 0, differences: [] },
};

test('a verification is a sentence: the same, different, or nothing to compare', () => {
  expect(verifiedText(VERIFIED)).toBe('27 decisions about 3 agents are as recorded.');
  expect(verifiedText({ ...VERIFIED, differentCount: 1 })).toMatch(/^1 of 3 agents is judged differently now\. 27 /);
  expect(verifiedText({ ...VERIFIED, agents: 0, decisions: 0 })).toMatch(/^Nothing is decided in this span/);
});

test('figures from the log have what was read, and a warning where the log begins too late', () => {
  const read = { kind: 'figures', observations: 1200, isEarlier: false, at: [1, 2], signals: [] } as const;
  expect(figuresText(read)).toBe('Drawn from 1,200 observations of the log, at 2 moments.');
  expect(figuresText({ ...read, isEarlier: true })).toMatch(/older than the first stored one.*too small\.$/);
  expect(figuresText({ ...read, at: [] })).toBe('The log has nothing about the agent in this span.');
});

test('a what if is a sentence with the agents that another act concerns', () => {
  const side = { stuck: 0, degraded: 0, plans: 0 };
  const result: WhatIfResult = {
    ...{ kind: 'what_if', observations: 94, agents: 3, earlierCount: 0, earlier: [], differentCount: 2 },
    ...{ actedOtherwise: 1, recorded: side, otherwise: side, different: [] },
  };
  expect(whatIfText(result, 'strict')).toBe('2 of 3 agents are judged differently under strict, 1 with another act.');
  expect(whatIfText({ ...result, differentCount: 0 }, 'strict')).toBe('No agent is judged differently under strict.');
});

test('what was not compared is named, a line for each reason', () => {
  expect(leftOutLines(VERIFIED)).toEqual([]);
  const earlier = ['a', 'b', 'c', 'd', 'e', 'f'];
  expect(leftOutLines({ ...VERIFIED, earlierCount: 7, earlier, newer: 2, unreadable: 1 })).toEqual([
    'Not compared, because they were known before the first stored observation: a, b, c, d, e and 2 more.',
    '2 newer decisions were not compared: they were not committed yet.',
    '1 observation cannot be read: see the dead letters.',
  ]);
});
