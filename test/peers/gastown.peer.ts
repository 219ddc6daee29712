import { type HeartbeatPayload, T0 } from '@vigil/health/fixture';
import {
  act,
  exit,
  heartbeatStep,
  is,
  MIN,
  outside,
  type PeerCase,
  replay,
  SEC,
  type Step,
  type Suite,
  watched,
} from './peer.ts';

const NO_OP = { ...is('HEALTHY'), plan: null };
const WATCH = is('HEALTHY', 'DEGRADED');
const NUDGE = { ...is('STUCK'), plan: 'STUCK' };
const ESCALATE = { ...is('FAILING'), plan: 'FAILING' };
const WARRANT = { ...is('TERMINATED'), plan: 'crashed' };
const CLEAN_UP = { ...is('TERMINATED'), plan: null };

/** A session as its runtime reports it: its activity, and output that it has just written. */
const session = (activity: HeartbeatPayload['activity'], more: Partial<HeartbeatPayload> = {}): Step =>
  heartbeatStep({
    reporter: 'runtime',
    activity,
    output: { ...NOTHING_WRITTEN, last_output_at: T0 + 5 * SEC },
    ...more,
  });
const NOTHING_WRITTEN = {
  lines: 10,
  matched_patterns: [],
  shown_errors: [],
  repeated_error: null,
  result_at: null,
  completion_signal_at: null,
  tail: [],
};
/** A working session without output for this long. */
const quiet = (minutes: number): Step[] => [session('working'), watched(minutes * MIN)];
const dead = (how: 'finished' | 'crashed'): Step[] => [session('working'), exit(how)];
const dog = (minutes: number): Step[] => [
  act({ tool: 'formula', outcome: 'running', within: 5 * MIN }),
  watched(minutes * MIN),
];

const FILES = 'what becomes of a dead agent’s files and branch: its runtime’s part';
const POOL = 'how many workers there are: the supervisor’s part';
const BRAKE = 'one escalation for many deaths: the governor’s brake withholds the steps, each death is a finding';

const witness: readonly PeerCase[] = [
  replay('output 30 s ago', [session('working'), watched(30 * SEC)], [NO_OP]),
  replay('idle for 3 min without work', [session('idle', { task_id: null }), watched(3 * MIN)], [NO_OP]),
  replay('quiet for 10 min with work', quiet(10), [NUDGE]),
  replay('quiet for 20 min with work', quiet(20), [NUDGE]),
  replay('quiet for 45 min with work', quiet(45), [ESCALATE]),
  replay('dead while running', dead('crashed'), [WARRANT]),
  ...outside(FILES, 'dead, with changes', 'dead, without'),
  replay(
    'tests that run for 15 min',
    [session('working'), act({ tool: 'Bash', outcome: 'running' }), watched(15 * MIN)],
    [NO_OP],
  ),
  replay('quiet for 30 min, nudged twice in vain', quiet(30), [is('STUCK')]),
  replay('begun 90 s ago', [heartbeatStep({ reporter: 'runtime' }), watched(90 * SEC)], [NO_OP]),
];

const deacon: readonly PeerCase[] = [
  replay('dead while running, long ago', [...dead('crashed'), watched(45 * MIN)], [WARRANT]),
  replay('dead while running, with changes', dead('crashed'), [WARRANT]),
  replay('output 2 min ago', quiet(2), [NO_OP]),
  replay('dead while idle', [session('idle'), exit('finished')], [CLEAN_UP]),
  replay('quiet for 5 min', quiet(5), [WATCH]),
  replay('dead for 2 min', [...quiet(2), exit('crashed')], [WARRANT]),
  replay('quiet for 30 min, alive', quiet(30), [{ ...is('DEGRADED', 'STUCK'), plan: 'STUCK' }]),
  ...outside(BRAKE, 'four dead within ten seconds'),
  replay('dead when done', [session('finished'), exit('finished')], [CLEAN_UP]),
  replay('at its prompt for 25 min', [session('awaiting_input'), watched(25 * MIN)], [WATCH]),
];

const dogs: readonly PeerCase[] = [
  replay('a dog 3 min into 5', dog(3), [WATCH]),
  replay('at 1.5 times its time', dog(7.5), [WATCH]),
  replay('at 3 times', dog(15), [is('STUCK')]),
  replay('at 6 times', dog(30), [is('FAILING')]),
  replay('a dead dog', [...dog(1), exit('crashed')], [WARRANT]),
  ...outside(POOL, 'all busy, work waiting', 'all busy, none waiting', 'idle for a day', 'the last one', 'at the most'),
];

const unhinted: readonly PeerCase[] = [
  replay('without hints: output 30 s ago', [session('working'), watched(30 * SEC)], [NO_OP]),
  ...outside(FILES, 'without hints: dead, with changes', 'without hints: dead, without'),
  replay('without hints: dead while running', dead('crashed'), [WARRANT]),
  replay('without hints: output 2 min ago', quiet(2), [NO_OP]),
  replay('without hints: dead while idle', [session('idle'), exit('finished')], [CLEAN_UP]),
];

const CLEANUPS = [
  'clean',
  'merged',
  'changed',
  'unpushed',
  'stashed',
  'conflict',
  'detached',
  'pushed',
  'batch',
  'batch of changed',
];

export const gastown: Suite = {
  name: 'Gas Town',
  source:
    'steveyegge/gastown `gt-model-eval/tests/` (`witness-stuck`, `deacon-zombie`, `deacon-dog-health`, `witness-cleanup`, `class-a-witness`, `class-a-deacon`) at a8bd79bf, MIT',
  policy: `policy: gastown
signals:
  quiet:       { is: no_output, after: 8m }
  long_quiet:  { is: no_output, after: 40m }
  overdue:     { is: call_overdue, buffer: 5m }    # twice a dog's five minutes
  far_overdue: { is: call_overdue, buffer: 20m }   # five times
  crashed:     { is: exited, reasons: [crashed, resource_limit, lost] }
states:
  FAILING: [long_quiet, far_overdue]
  STUCK: [quiet, overdue]
exemptions:
  call_in_flight: { default_deadline: { tool: 30m } }
plans:
  - when: crashed
    do: [recover]
  - when: FAILING
    do: [escalate: { timeout: 15m }]
  - when: STUCK
    do: [nudge: { attempts: 2, interval: 10m }, escalate: { timeout: 15m }]
`,
  read: [
    'The expected answer of a model is a state and a plan here: no-op is HEALTHY, nudge and warrant STUCK, escalate and force-clear FAILING. A',
    'warrant for the dead is the plan `crashed`. The case decides the steps after an unanswered nudge.',
  ],
  cases: [...witness, ...deacon, ...dogs, ...outside(FILES, ...CLEANUPS), ...unhinted],
};
