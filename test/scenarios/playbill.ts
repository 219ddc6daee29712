import { soak } from '../support/system.ts';
import type { Role, Stage } from './stage.ts';
import * as alerting from './stories/alerting.ts';
import * as botbox from './stories/botbox.ts';
import * as breakers from './stories/breakers.ts';
import * as cancelled from './stories/cancelled.ts';
import * as coditect from './stories/coditect.ts';
import * as counted from './stories/counted.ts';
import * as dogs from './stories/dogs.ts';
import * as eight from './stories/eight.ts';
import * as fleet from './stories/fleet.ts';
import * as gascity from './stories/gascity.ts';
import * as gastown from './stories/gastown.ts';
import * as gateway from './stories/gateway.ts';
import * as handing from './stories/handing.ts';
import * as hive from './stories/hive.ts';
import * as hourly from './stories/hourly.ts';
import * as odd from './stories/odd.ts';
import * as omniclaude from './stories/omniclaude.ts';
import * as people from './stories/people.ts';
import * as racing from './stories/racing.ts';
import * as starting from './stories/starting.ts';
import * as unsaved from './stories/unsaved.ts';

type Stories = Readonly<Record<string, (stage: Stage) => Promise<void>>>;

/**
 * `cast`: the agents from the beginning; `stories`: the stories, each with its own agents; `slow`: further stories,
 * which run in the long form only.
 */
export type Act = {
  readonly name: string;
  readonly cast: readonly Role[];
  readonly stories: Stories;
  readonly slow: Stories;
};

const laddersAndDances: Act = {
  name: 'ladders and dances',
  cast: [
    ...[coditect, unsaved, gascity, hive, handing, cancelled].flatMap(({ roles }) => roles),
    ...racing.racers,
    ...soak([], counted.roles),
  ],
  stories: {
    'coditect: three nudges, escalated, ended, recovered': coditect.nudgedEscalatedEndedRecovered,
    'coditect: an agent that ignores SIGTERM is killed, and only then replaced': coditect.ignoresSigterm,
    'coditect: an agent that recovers after the first nudge gets no second one': coditect.healedByTheNudge,
    'coditect: an agent follows a handoff request, and its replacement continues from there':
      coditect.handoffByDecision,
    'coditect: a person gives more time twice, is refused a third time, then ends the agent': coditect.moreTimeTwice,
    'coditect: an agent whose calls fail is ended and recovered at once': coditect.failingEndedAtOnce,
    'coditect: an agent that works without a checkpoint is nudged, ended and recovered': unsaved.nudgedThoughItWorks,
    'coditect: a reminder names the time since the last checkpoint': unsaved.remindedOfTheTimeSinceItsCheckpoint,
    'coditect: an agent that asks for permissions again and again is nudged, ended and recovered all the same':
      unsaved.askingEndsNoPlan,
    'coditect: an agent that works and saves checkpoints is left alone': unsaved.whoSavesIsLeftAlone,
    'gascity: an agent that answers no question of the shutdown dance is ended': gascity.executedWhenSilent,
    'gascity: every step of a shutdown dance names the same warrant': gascity.danceNamesItsWarrant,
    'gascity: the last output of an ended agent is kept': gascity.forensicsBeforeTheKill,
    'gascity: an agent that answers is pardoned': gascity.pardonedByItsAnswer,
    'gascity: an agent that works after a question is pardoned': gascity.pardonedByItsProgress,
    'gascity: without patterns, an agent that does nothing after its work item changed is ended':
      gascity.leftBehindByItsWork,
    'gascity: a prompt does not excuse a wedged agent, an open permission does': gascity.promptIsNoExcuse,
    'gascity: without stuck_sweep, a stuck agent is reported and nothing is done': gascity.offUntilRequested,
    'hive: tickets, triage, a notification, and an untouched worker': hive.ticketTriageNotification,
    'hive: a hung model call is found after four minutes, though it may take longer': hive.hungModelCallIsFound,
    'hive: genuine progress dismisses a ticket though the worker is in a loop': hive.progressDismissesTheTicket,
    "coditect: agents that report only CODITECT's eight fields are judged by them": eight.judgedByEightFields,
    "hive: triage dismisses a judge's ticket, and a person notifies people all the same": hive.filedByAJudge,
    'a plan asks two agents for a handoff: one writes it, the other does not': handing.byPlan,
    'coditect: an agent that answers a nudge with a handoff is replaced from its checkpoint': handing.byItsAnswer,
    'coditect: the blockers that an agent answers are in the question and the alert': handing.blockersReachPeople,
    'an agent without a runtime is nudged at the gateway, and never ended': gateway.nudgedAtTheGateway,
    'coditect: a DEGRADED agent sends three times as many heartbeats until it is healthy': gateway.watchedMoreClosely,
    'an agent that dies while it is being ended has one replacement': racing.diesAsItIsEnded,
    'a breaker that was open for an ended agent is closed for its replacement': racing.breakerEndsWithItsInstance,
  },
  slow: {
    'coditect: three recoveries a task, however far apart; then a person releases it': counted.releasedByAPerson,
    'coditect: five recoveries an hour, half of them for one of two runtimes': hourly.beyondItsHour,
    'coditect: a replacement is judged by its own reports': coditect.replacementIsLeftAlone,
    'an agent that is ended while paused, stopped on its host or done is not resumed': cancelled.staysCancelled,
  },
};

const planPerSignal: Act = {
  name: 'one plan for each signal',
  cast: [botbox, omniclaude, racing, alerting].flatMap(({ roles }) => roles),
  stories: {
    'botbox: a silent agent is ended, its claims are released, people are notified': botbox.silentEndedAndReleased,
    'botbox: people are notified of a repeated error, and nothing else is done': botbox.sameErrorReported,
    'botbox: an agent that was reported and then falls silent is ended too': botbox.reportedThenSilent,
    'botbox: with that setting, a repeated error ends the agent and blocks its task': botbox.blockedForItsError,
    'botbox: a rate-limited agent is paused and resumed, never ended': botbox.limitedPausedAndResumed,
    'botbox: a long rate limit doubles each pause, and nothing else follows': botbox.limitedForLong,
    'botbox: an agent with a result that it does not complete is ended, and its task stays in progress':
      botbox.unreportedLeftInProgress,
    'botbox: an agent that burns tokens waits for a person': botbox.burnsUntilDecided,
    'botbox: a silent agent at its prompt is ended, one that waits for a permission is not': botbox.promptIsNoExcuse,
    'botbox: people are notified of one repeated target, a stale claim and a crash': botbox.onlyReported,
    'omniclaude: two replacements continue from the checkpoint, then the task is Blocked':
      omniclaude.redispatchedTwiceThenBlocked,
    'omniclaude: a kill of recovery loses no attempt of a task': omniclaude.attemptsSurviveTheCounter,
    'omniclaude: the work of an ended agent is saved in a file of its own': omniclaude.itsWorkSaved,
    'omniclaude: the third stall writes the friction event by default': omniclaude.frictionByDefault,
    'omniclaude: the healthcheck event reports a stalled agent': omniclaude.itsEventReported,
    'omniclaude: an agent above 80 % of its context is replaced, one at 80 % is not': omniclaude.relievedOfAFullContext,
    'omniclaude: any rate limit is a stall': omniclaude.relievedOfARateLimit,
    'omniclaude: an agent in a long Bash call is left alone': omniclaude.longBashWaitedFor,
    'omniclaude: a task that its tracker has closed is not recovered': omniclaude.closedWorkIsLeft,
    'omniclaude: the third stall is Blocked: the friction event and its line, to the letter':
      alerting.blockedInItsFiles,
    'an orchestrator receives a question by webhook, and decides through the dashboard':
      alerting.decidedByAnOrchestrator,
    "each policy's channels receive notices of its own agents only": alerting.notifiesNoOther,
    'a message that an agent has not received is not delivered to its replacement': racing.replacementGetsItsOwn,
    'an end meant for an earlier instance leaves the next alone': racing.lateKillHarmsNone,
    'the assignee of a task keeps it when another agent on the task dies': racing.assigneeKeepsItsTask,
  },
  slow: {},
};

const peopleAndUntouched: Act = {
  name: 'people, and untouched agents',
  cast: [gastown, people, dogs, starting, odd, breakers].flatMap(({ roles }) => roles),
  stories: {
    'gas town: agents that are busy, without work, in tests, new, at a prompt or done are left alone':
      gastown.leftAlone,
    'gas town: a dead agent is recovered, and none is ended': gastown.deadAndRecovered,
    'gas town: a dog above its time limit is watched, gets a warrant, then is ended by force':
      dogs.watchedWarrantedCleared,
    'a failed start is tried again, then goes to people, who may start it again': starting.triedAgain,
    'an unknown value is refused and blocks nothing': odd.wedgesNothing,
    'a breaker that a person closes counts from zero': breakers.closedByPeople,
    'a person pardons a waiting case over HTTP': people.decidedOverHttp,
    'an agent that a person ends stays ended': people.endedByPeopleStaysEnded,
    'an agent that a person recovers is replaced at once': people.recoveredByPeople,
    "a person's message is never typed into a start, a call or a question": people.typedOnlyAtItsPrompt,
    'people review a replacement that fails its probation': people.failedProbationIsReviewed,
  },
  slow: {
    'gas town: an idle agent with work gets a reminder, an urgent one, then people are reminded for ever':
      gastown.remindedTwiceThenPeople,
    'a decision over Kafka ends and recovers an agent': people.decidedOverKafka,
  },
};

/**
 * The acts run one after the other, and the stories of an act at once. With two acts at once, machines of half the speed
 * fell behind the clocks of the stories.
 */
export const acts: readonly Act[] = [laddersAndDances, planPerSignal, peopleAndUntouched];

/** The acts that run one after the other, because each concerns the whole fleet. */
export const alone: Act = {
  name: 'the fleet',
  cast: fleet.roles,
  stories: {
    'eight agents die at once: one incident, and nothing is ended': fleet.massDeath,
    'a working agent is not judged unhealthy because the monitor stood still': fleet.standingStill,
  },
  // The tests in test/acting halt a fleet and have a dry run, in each run.
  slow: {
    'in a dry run each step reports what it would have done': fleet.dryRun,
    'a halted fleet is observed, and nothing is done': fleet.halted,
  },
};
