import { expect, test } from 'vitest';
import {
  admitSpawn,
  admitStep,
  announces,
  controls,
  fleet,
  lost,
  MIN,
  present,
  SEC,
  withdrawStep,
} from './fleet.fixture.ts';
import { livingIn } from './places.ts';
import { usual } from './settings.ts';

test('three lost at once engage the brake, two do not', () => {
  const one = fleet(40);
  expect(one.receive(lost('a0', { host: 'h0' }))).toEqual([]);
  expect(one.receive(lost('a11', { host: 'h1' }))).toEqual([]);
  expect(one.receive(lost('a22', { host: 'h2' }))).toEqual(['BRAKE_ENGAGED fleet']);
});

test('agents that are called as the lost tasks neither prevent the brake nor lift it', () => {
  const prevented = fleet(40);
  const engaged = [0, 11, 22].flatMap((n) => {
    const lostOne = prevented.receive(lost(`a${n}`, { host: `h${Math.floor(n / 10)}` }));
    return [...lostOne, ...prevented.receive(present(`task-a${n}`, { taskId: null, host: 'h9' }))];
  });
  expect(engaged).toEqual(['BRAKE_ENGAGED fleet']);
  expect(prevented.after(60 * MIN)).toEqual([]);
});

test('the same task twice, and the same agent twice, count once', () => {
  const one = fleet(40);
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0', taskId: 'task-a0' }));
  expect(one.receive(lost('a11', { host: 'h1' }))).toEqual([]);
  expect(one.state().brake).toBeNull();
});

test('expected ends never count', () => {
  const one = fleet(40);
  for (let i = 0; i < 20; i++)
    expect(one.receive(lost(`a${i}`, { host: `h${Math.floor(i / 10)}`, expected: true }))).toEqual([]);
});

const uncounted = {
  'was idle': { exemption: 'idle' },
  'was paused': { exemption: 'paused' },
  'was held': { exemption: 'held' },
  'has no instance': { instanceId: null },
  'was observed for less than five minutes': { observedMs: 5 * MIN - 1 },
};

test.each(Object.entries(uncounted))('an agent that was %s at its last heartbeat never counts as lost', (_, rest) => {
  const one = fleet(12);
  for (let i = 0; i < 12; i++) expect(one.receive(lost(`a${i}`, { host: 'h0', ...rest }))).toEqual([]);
  expect(one.state().losses).toEqual([]);
  one.receive(admitStep('a5'));
  expect(one.after(5 * SEC)).toEqual(['admits a5']);
});

test.each(Object.entries(uncounted))('an agent that %s makes the fleet no smaller within the window', (_, rest) => {
  const one = fleet(100);
  for (let i = 10; i < 90; i++) one.receive(lost(`a${i}`, { host: `h${Math.floor(i / 10)}`, ...rest }));
  for (const i of [0, 1, 98]) expect(one.receive(lost(`a${i}`, { host: `h${Math.floor(i / 10)}` }))).toEqual([]);
  one.after(29 * SEC);
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual([]);
  expect(one.receive(lost('a99', { host: 'h9' }))).toEqual(['BRAKE_ENGAGED fleet']);
});

test('observed for exactly five minutes, a lost agent counts; the setting moves the edge', () => {
  const engagesAt = (observedMs: number, minAgeMs: number) => {
    const one = fleet(12, { brake: { ...usual.brake, minAgeMs } });
    for (const id of ['a0', 'a1']) one.receive(lost(id, { host: 'h0', observedMs }));
    return one.receive(lost('a2', { host: 'h0', observedMs })).length > 0;
  };
  expect(engagesAt(5 * MIN, usual.brake.minAgeMs)).toBe(true);
  expect(engagesAt(5 * MIN - 1, usual.brake.minAgeMs)).toBe(false);
  expect(engagesAt(2 * SEC, 2 * SEC)).toBe(true);
});

test('uncounted losses of a whole fleet of 10,000 take less than a fifth of a megabyte', () => {
  const one = fleet(0);
  for (let i = 0; i < 10_000; i++)
    one.receive(lost(`agent-${i}`, { host: `host-${i % 100}`, runtimeId: `runtime-${i % 100}`, exemption: 'idle' }));
  expect(JSON.stringify(one.state()).length).toBeLessThan(200_000);
});

test('losses further apart than 30 s do not add up', () => {
  const one = fleet(40);
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0' }));
  one.after(30 * SEC);
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual([]);
});

test('an agent that sends heartbeats again does not count', () => {
  const one = fleet(40);
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0' }));
  one.receive(present('a1', { host: 'h0' }));
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual([]);
});

test('in a large fleet it takes one in twenty: of 100, five; of 101, six', () => {
  for (const [liveAgents, enough] of [[100, 5] as const, [101, 6] as const]) {
    const one = fleet(liveAgents);
    for (let i = 0; i < enough - 1; i++) expect(one.receive(lost(`a${i * 10}`, { host: `h${i}` }))).toEqual([]);
    expect(one.receive(lost('a99', { host: 'h9' }))).toEqual(['BRAKE_ENGAGED fleet']);
  }
});

test('or half of one host, and at least three', () => {
  const one = fleet(100);
  for (let i = 0; i < 4; i++) expect(one.receive(lost(`a${i}`, { host: 'h0' }))).toEqual([]);
  expect(one.receive(lost('a4', { host: 'h0' }))).toEqual(['BRAKE_ENGAGED host:h0']);
});

test('or half of one runtime', () => {
  const one = fleet(100);
  for (const id of ['x0', 'x1', 'x2', 'x3', 'x4', 'x5']) one.receive(present(id, { host: 'hx', runtimeId: 'daemon' }));
  for (let i = 0; i < 20; i++) one.receive(present(`y${i}`, { host: 'hx' }));
  one.receive(lost('x0', { host: 'hx', runtimeId: 'daemon' }));
  one.receive(lost('x1', { host: 'hx', runtimeId: 'daemon' }));
  expect(one.receive(lost('x2', { host: 'hx', runtimeId: 'daemon' }))).toEqual(['BRAKE_ENGAGED runtime:daemon']);
});

const braked = () => {
  const one = fleet(12);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  return one;
};

test('with the brake on, destructive steps are withheld, those that wait too; nudges continue', () => {
  const one = fleet(12);
  one.receive(admitStep('a5'));
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0' }));
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual(['BRAKE_ENGAGED fleet', 'withholds a5 brake']);
  expect(one.receive(admitStep('a6'))).toEqual(['withholds a6 brake']);
  expect(one.receive(admitStep('a7', 'soft'))).toEqual(['admits a7']);
});

test('a terminate asked as the first of a mass failure falls silent does not slip through', () => {
  const one = fleet(12);
  one.receive(admitStep('a0'));
  one.after(4 * SEC);
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0' }));
  expect(one.receive(lost('a2', { host: 'h0' }))).toContain('withholds a0 brake');
  expect(one.after(10 * MIN)).toEqual([]);
});

test('a withheld step waits: it is announced once, and admitted when the brake lifts', () => {
  const one = braked();
  expect(one.receive(admitStep('a5'))).toEqual(['withholds a5 brake']);
  expect(one.receive(admitStep('a5'))).toEqual([]);
  expect(one.after(10 * MIN)).toEqual([]);
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual(['BRAKE_RELEASED', 'admits a5']);
  expect(one.after(10 * MIN)).toEqual([]);
});

test('a withheld step that is withdrawn is admitted no more', () => {
  const one = braked();
  one.receive(admitStep('a5'));
  one.receive(withdrawStep('a5'));
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual(['BRAKE_RELEASED']);
  expect(one.after(10 * MIN)).toEqual([]);
});

test('halted and braked, each reason is announced once, and a step is admitted when both are over', () => {
  const one = braked();
  expect(one.receive(admitStep('a5'))).toEqual(['withholds a5 brake']);
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED', 'withholds a5 halted']);
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED']);
  expect(one.receive(controls('RESUME_FLEET'))).toEqual(['FLEET_RESUMED', 'withholds a5 brake']);
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual(['BRAKE_RELEASED']);
  expect(one.after(5 * SEC)).toEqual(['admits a5']);
});

test('when the brake lifts, withheld steps keep to the budget: a step that waits for its turn is withheld once', () => {
  const one = fleet(12, { stepsPerMinute: 2 });
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  for (const id of ['a5', 'a6', 'a7']) one.receive(admitStep(id, 'destructive', { runtimeId: `rt-${id}` }));
  one.after(MIN);
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual([
    'BRAKE_RELEASED',
    'admits a5',
    'admits a6',
    'withholds a7 budget',
  ]);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a7']);
});

test('it engages once, and lifts when over half of the lost have sent heartbeats for a minute', () => {
  const one = braked();
  expect(one.receive(lost('a3', { host: 'h0' }))).toEqual([]);
  one.receive(present('a0', { host: 'h0' }));
  one.receive(present('a1', { host: 'h0' }));
  expect(one.after(10 * MIN)).toEqual([]);
  one.receive(present('a2', { host: 'h0' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
  expect(one.after(10 * MIN)).toEqual([]);
  one.receive(admitStep('a5'));
  expect(one.after(5 * SEC)).toEqual(['admits a5']);
});

test('a task that another agent has taken up is back', () => {
  const one = braked();
  one.receive(present('b0', { taskId: 'task-a0' }));
  one.receive(present('b1', { taskId: 'task-a1' }));
  expect(one.after(MIN)).toEqual(['BRAKE_RELEASED']);
});

test('an agent that is lost again counts from then', () => {
  const one = braked();
  one.receive(present('a0', { host: 'h0' }));
  one.receive(present('a1', { host: 'h0' }));
  one.after(30 * SEC);
  one.receive(lost('a1', { host: 'h0' }));
  expect(one.after(MIN)).toEqual([]);
});

test('a person lifts it, and what was lost before does not engage it again', () => {
  const one = braked();
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual(['BRAKE_RELEASED']);
  expect(one.receive(lost('a3', { host: 'h0' }))).toEqual([]);
});

/** Six agents of h0 are lost, and send heartbeats again for 55 s. */
const returning = () => {
  const one = fleet(40);
  for (let i = 0; i < 6; i++) one.receive(lost(`a${i}`, { host: 'h0' }));
  one.after(2 * MIN);
  for (let i = 0; i < 6; i++) one.receive(present(`a${i}`, { host: 'h0' }));
  expect(one.after(55 * SEC)).toEqual([]);
  return one;
};
const falls = (one: ReturnType<typeof fleet>) =>
  Array.from({ length: 10 }, (_, i) => one.receive(lost(`a${10 + i}`, { host: 'h1' }))).flat();

test('a second mass failure while the brake is on is an incident of its own: it does not lift until both are over', () => {
  const one = returning();
  expect(falls(one)).toEqual(['BRAKE_ENGAGED fleet']);
  expect(one.after(10 * MIN)).toEqual([]);
  expect(one.receive(admitStep('a21'))).toEqual(['withholds a21 brake']);
  for (let i = 10; i < 15; i++) one.receive(present(`a${i}`, { host: 'h1' }));
  expect(one.after(10 * MIN)).toEqual([]);
  one.receive(present('a15', { host: 'h1' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED', 'admits a21']);
  one.receive(admitStep('a22'));
  expect(one.after(5 * SEC)).toEqual(['admits a22']);
});

test('a second one that is over first leaves the first as it was', () => {
  const one = fleet(40);
  for (let i = 0; i < 6; i++) one.receive(lost(`a${i}`, { host: 'h0' }));
  one.after(2 * MIN);
  expect(falls(one)).toEqual(['BRAKE_ENGAGED fleet']);
  for (let i = 10; i < 20; i++) one.receive(present(`a${i}`, { host: 'h1' }));
  expect(one.after(10 * MIN)).toEqual([]);
});

test('too few lost while the brake is on are no second incident, and count with those that are lost right after it', () => {
  const one = returning();
  one.receive(lost('a10', { host: 'h1' }));
  expect(one.receive(lost('a11', { host: 'h1' }))).toEqual([]);
  expect(one.after(5 * SEC)).toEqual(['BRAKE_RELEASED']);
  expect(one.receive(lost('a12', { host: 'h1' }))).toEqual(['BRAKE_ENGAGED fleet']);
});

test('a few of the lost that are lost again as the brake lifts engage it again', () => {
  const one = fleet(40);
  for (let i = 0; i < 9; i++) one.receive(lost(`a${i}`, { host: 'h0' }));
  one.after(2 * MIN);
  for (let i = 0; i < 9; i++) one.receive(present(`a${i}`, { host: 'h0' }));
  one.after(55 * SEC);
  for (const i of [0, 1, 2]) expect(one.receive(lost(`a${i}`, { host: 'h0' }))).toEqual([]);
  expect(one.after(5 * SEC)).toEqual(['BRAKE_RELEASED', 'BRAKE_ENGAGED fleet']);
});

test('a person lifts the brake of two incidents at once', () => {
  const one = returning();
  falls(one);
  expect(one.receive(controls('LIFT_BRAKE'))).toEqual(['BRAKE_RELEASED']);
  one.receive(admitStep('a21'));
  expect(one.after(5 * SEC)).toEqual(['admits a21']);
});

test('losses of long ago do not count because the fleet has shrunk since', () => {
  const one = fleet(100);
  for (const i of [0, 1, 2]) one.receive(lost(`a${i * 10}`, { host: `h${i}` }));
  one.after(30 * SEC);
  for (let i = 3; i < 90; i++)
    expect(one.receive(lost(`a${i}`, { host: `h${Math.floor(i / 10)}`, expected: true }))).toEqual([]);
});

test.each(['constructor', '__proto__', 'toString', 'length'])(
  'a host and a runtime called %s are like any other',
  (name) => {
    const one = fleet(4);
    one.receive(present('odd', { host: name, runtimeId: name }));
    one.receive(present('odder', { host: 'h0', runtimeId: name }));
    expect(livingIn(one.state().liveAgents, { runtimeId: name })).toBe(2);
    one.receive(lost('odd', { host: name, runtimeId: name, expected: true }));
    expect(livingIn(one.state().liveAgents, { host: name })).toBe(0);
    expect(livingIn(one.state().liveAgents, {})).toBe(5);
  },
);

test('the brake waits for no agent that has ended as expected, or whose death is confirmed', () => {
  const one = fleet(20);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  expect(one.state().brake).not.toBeNull();
  one.receive(lost('a0', { host: 'h0', expected: true }));
  one.receive(lost('a1', { host: 'h0', expected: true }));
  expect(one.after(60 * MIN)).toEqual([]);
  expect(one.receive(lost('a2', { host: 'h0', expected: true }))).toEqual(['BRAKE_RELEASED']);
});

test('an agent that came back and then ended counts as back', () => {
  const one = fleet(20);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  for (const id of ['a0', 'a1']) one.receive(present(id, { host: 'h0' }));
  one.after(MIN - 1);
  one.receive(lost('a0', { host: 'h0', expected: true }));
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('of the remaining agents over half must send heartbeats again', () => {
  const one = fleet(20);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  for (const id of ['a0', 'a1']) one.receive(lost(id, { host: 'h0', expected: true }));
  one.receive(present('a2', { host: 'h0' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('one that fell silent and has finished counts no more', () => {
  const one = fleet(40);
  one.receive(lost('a0', { host: 'h0' }));
  one.receive(lost('a1', { host: 'h0' }));
  one.receive(lost('a0', { host: 'h0', expected: true }));
  expect(one.receive(lost('a2', { host: 'h1' }))).toEqual([]);
});

/** a0, a1 and a2 were taken for dead, came back, and are lost again; of their replacements `alive` live. */
const lostBesideReplacements = (alive: number) => {
  const one = fleet(40);
  one.receive(announces('rt-9'));
  for (const i of [0, 1, 2]) {
    one.receive(admitSpawn(`task-a${i}`, { newAgentId: `a${i}-r1` }));
    one.receive(present(`a${i}-r1`, { taskId: `task-a${i}`, host: 'h9' }));
    if (i >= alive) one.receive(lost(`a${i}-r1`, { taskId: `task-a${i}`, host: 'h9', expected: true }));
  }
  for (const i of [0, 1]) expect(one.receive(lost(`a${i}`, { host: 'h0' }))).toEqual([]);
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual(['BRAKE_ENGAGED fleet']);
  return one;
};

test('the brake does not wait for an agent whose living replacement has its task', () => {
  const one = lostBesideReplacements(2);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
  expect(lostBesideReplacements(1).after(60 * MIN)).toEqual([]);
});

/** A person started b0, b1 and b2 on the tasks of a0, a1 and a2. `others` agents started and ended, and `between` later `d` started. Then a0, a1 and a2 are lost. */
const lostAfterAnotherStart = (between: number, others: number) => {
  const one = fleet(40);
  for (const i of [0, 1, 2]) one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  for (let i = 0; i < others; i++) one.receive(present(`c${i}`, { host: 'h8' }));
  for (let i = 0; i < others; i++) one.receive(lost(`c${i}`, { host: 'h8', expected: true }));
  one.after(between);
  one.receive(present('d', { host: 'h8' }));
  for (const i of [0, 1]) expect(one.receive(lost(`a${i}`, { host: 'h0' }))).toEqual([]);
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual(['BRAKE_ENGAGED fleet']);
  return one;
};

test('the brake does not wait for an agent on whose task a person started another one before the loss', () => {
  const one = lostAfterAnotherStart(30 * MIN - 1, 0);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('starts are kept for half an hour, the newest 500', () => {
  expect(lostAfterAnotherStart(30 * MIN, 0).after(60 * MIN)).toEqual([]);
  expect(lostAfterAnotherStart(0, 499).after(60 * MIN)).toEqual([]);
  expect(lostAfterAnotherStart(0, 497).after(MIN)).toEqual(['BRAKE_RELEASED']);
});

test('of an agent its latest start is kept, and the brake waits where the other agent has ended too', () => {
  const one = fleet(40);
  for (const i of [0, 1, 2]) one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  one.receive(present('b0', { taskId: 'another', host: 'h9' }));
  one.receive(lost('b1', { taskId: 'task-a1', host: 'h9', expected: true }));
  for (const i of [0, 1]) one.receive(lost(`a${i}`, { host: 'h0' }));
  expect(one.receive(lost('a2', { host: 'h0' }))).toEqual(['BRAKE_ENGAGED fleet']);
  expect(one.after(60 * MIN)).toEqual([]);
});

test('an agent that started on a task and was started again without one takes no place on it', () => {
  const one = fleet(40);
  for (const i of [0, 1, 2]) {
    one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
    one.receive(present(`b${i}`, { taskId: null, host: 'h9' }));
  }
  for (const i of [0, 1, 2]) one.receive(lost(`a${i}`, { host: 'h0' }));
  expect(one.after(60 * MIN)).toEqual([]);
});

/** 1,000 agents on 20 hosts, and three of a stranger’s runtime. */
const withStranger = (rest: { host: string }) => {
  const one = fleet();
  for (let i = 0; i < 1000; i++) one.receive(present(`good-${i}`, { host: `h${i % 20}`, runtimeId: `rt${i % 20}` }));
  const place = { ...rest, runtimeId: 'mallory' };
  for (const id of ['m0', 'm1', 'm2']) one.receive(present(id, place));
  return { ...one, lose: () => ['m0', 'm1', 'm2'].flatMap((id) => one.receive(lost(id, place))) };
};
const onHost = (host: string, runtimeId: string) => ({ labels: { host }, runtimeId });

test('agents of one runtime that are lost withhold steps of that runtime only, also where they report another host', () => {
  for (const host of ['mallory', 'h1']) {
    const one = withStranger({ host });
    expect(one.lose()).toEqual(['BRAKE_ENGAGED runtime:mallory']);
    expect(one.receive(admitStep('good-1', 'destructive', onHost('h1', 'rt1')))).toEqual([]);
    expect(one.receive(admitStep('m3', 'destructive', onHost(host, 'mallory')))).toEqual(['withholds m3 brake']);
    expect(one.after(5 * SEC)).toEqual(['admits good-1']);
    expect(one.after(MIN)).toEqual([]);
  }
});

test('in a small fleet, too, they withhold steps of that runtime only', () => {
  const one = fleet(12);
  for (const id of ['m0', 'm1', 'm2']) one.receive(present(id, { host: 'hx', runtimeId: 'mallory' }));
  const [first, second] = ['m0', 'm1'].map((id) => one.receive(lost(id, { host: 'hx', runtimeId: 'mallory' })));
  expect([first, second]).toEqual([[], []]);
  expect(one.receive(lost('m2', { host: 'hx', runtimeId: 'mallory' }))).toEqual(['BRAKE_ENGAGED runtime:mallory']);
});

test('a host whose runtimes are lost withholds steps there only; a mass failure of the fleet still withholds everywhere', () => {
  const one = fleet(100);
  for (let i = 0; i < 5; i++) one.receive(lost(`a${i}`, { host: 'h0' }));
  expect(one.state().brake?.incidents.map(({ scope }) => scope)).toEqual(['host:h0']);
  expect(one.receive(admitStep('a6', 'destructive', onHost('h0', 'rt-a6')))).toEqual(['withholds a6 brake']);
  expect(one.receive(admitStep('a16', 'destructive', onHost('h1', 'rt-a16')))).toEqual([]);
  const elsewhere = [10, 20, 30, 40, 50].flatMap((i) => one.receive(lost(`a${i}`, { host: `h${i / 10}` })));
  expect(elsewhere).toEqual(['BRAKE_ENGAGED fleet', 'withholds a16 brake']);
});

test('incidents of one runtime, again and again, do not keep the brake of the fleet on', () => {
  const one = fleet(12);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  one.receive(admitStep('a5'));
  for (const id of ['a0', 'a1', 'a2']) one.receive(present(id, { host: 'h0' }));
  for (const id of ['m0', 'm1', 'm2', 'm3']) one.receive(present(id, { host: 'hx', runtimeId: 'mallory' }));
  one.after(31 * SEC);
  for (const id of ['m0', 'm1', 'm2']) one.receive(lost(id, { host: 'hx', runtimeId: 'mallory' }));
  expect(one.state().brake?.incidents.map(({ scope }) => scope)).toEqual(['fleet', 'runtime:mallory']);
  expect(one.after(29 * SEC - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a5']);
  expect(one.state().brake).not.toBeNull();
});

test('an agent lost within 30 s of the first belongs to the incident; one lost after that does not', () => {
  const awaitedAfter = (ms: number) => {
    const one = fleet(12);
    for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
    one.after(ms);
    one.receive(lost('a3', { host: 'h0' }));
    return one.state().brake?.incidents.map(({ awaited }) => awaited.length);
  };
  expect(awaitedAfter(30 * SEC - 1)).toEqual([4]);
  expect(awaitedAfter(30 * SEC)).toEqual([3]);
});

test('slow losses, each shortly after the last, do not keep the brake on once the first agents are back', () => {
  const one = fleet(100);
  for (let i = 0; i < 5; i++) one.receive(lost(`a${i * 10}`, { host: `h${i}` }));
  for (let i = 0; i < 40; i++) {
    one.after(20 * SEC);
    one.receive(lost(`a${10 * (i % 10) + 1 + Math.floor(i / 10)}`, { host: `h${i % 10}` }));
  }
  expect(one.state().brake).not.toBeNull();
  for (const i of [0, 1, 2, 3]) one.receive(present(`a${i * 10}`, { host: `h${i}` }));
  expect(one.after(MIN)).toEqual(['BRAKE_RELEASED']);
});

test('an agent of the incident that is lost again is still one of them, however late', () => {
  const one = fleet(12);
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  one.after(2 * MIN);
  one.receive(present('a0', { host: 'h0' }));
  one.receive(lost('a0', { host: 'h0' }));
  expect(one.state().brake?.incidents.map(({ awaited }) => awaited.map(({ agentId }) => agentId).toSorted())).toEqual([
    ['a0', 'a1', 'a2'],
  ]);
});
