import { upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { usual } from './governor/settings.ts';
import { initial } from './governor/state.ts';
import { cases, governor } from './processors.ts';

test('a state with the names of before is read, and so is how its task is recovered; names of others stay', () => {
  const labels = { matter: 'paint', at: 'home', open: 'yes' };
  const matter = { caseId: 'case-1', labels, recovery: '{"maxAttempts":1}' };
  const older = {
    life: { instanceId: 'i2', former: 'i1' },
    buried: 'i1',
    situation: { at: 'open', open: { matter, work: { at: 'asked', requestId: 'case-1-r1' } } },
    outstanding: { open: { matter, work: { at: 'turn' } }, earlier: { open: { matter } } },
    next: matter,
    word: null,
  };
  const caseContext = { caseId: 'case-1', labels, recovery: { maxAttempts: 1 } };
  expect(upgraded(cases.atRest, 5, older)).toEqual({
    instance: { instanceId: 'i2', previous: 'i1' },
    acknowledgedDeath: 'i1',
    situation: { kind: 'open', activeCase: { caseContext, stepState: { kind: 'asked', requestId: 'case-1-r1' } } },
    outstanding: { activeCase: { caseContext, stepState: { kind: 'turn' } }, earlier: { activeCase: { caseContext } } },
    next: caseContext,
  });
});

test("the governor's lost agents are known by their task, as before; a command that was answered is gone", () => {
  const loss = { agentId: 'a', host: 'h', runtimeId: 'r', at: 1 };
  const older = { ...loss, matter: 'task' };
  const newer = { ...loss, lossKey: 'task' };
  const { liveAgents: _, requests: __, ...rest } = initial;
  const request = { kind: 'step', withheld: null, correlationId: 'c', scope: 'fleet', step: { caseId: 'c1' } };
  const state = {
    ...rest,
    live: { missing: { later: ['a'] } },
    asked: [{ ...request, askedAt: 1 }],
    losses: [older],
    brake: { missing: [older], later: [[older]] },
    steering: null,
  };
  expect(upgraded(governor(usual).atRest, 2, state)).toEqual({
    ...initial,
    liveAgents: { missing: { later: ['a'] } },
    requests: [{ ...request, requestedAt: 1 }],
    losses: [newer],
    brake: { awaited: [newer], laterIncidents: [[newer]] },
  });
  expect(upgraded(governor(usual).atRest, 2, { ...initial, steering: null })).toEqual(initial);
});
