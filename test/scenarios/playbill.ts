import type { Role, Stage } from './stage.ts';
import * as botbox from './stories/botbox.ts';
import * as breakers from './stories/breakers.ts';
import * as cancelled from './stories/cancelled.ts';
import * as coditect from './stories/coditect.ts';
import * as dogs from './stories/dogs.ts';
import * as fleet from './stories/fleet.ts';
import * as gascity from './stories/gascity.ts';
import * as gastown from './stories/gastown.ts';
import * as gateway from './stories/gateway.ts';
import * as handing from './stories/handing.ts';
import * as hive from './stories/hive.ts';
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
  cast: [...[coditect, unsaved, gascity, hive, handing, cancelled].flatMap(({ roles }) => roles), ...racing.racers],
  stories: {
    'coditect: three nudges, escalated, ended, recovered': coditect.nudgedEscalatedEndedRecovered,
    'coditect: deaf to its end, it is killed, and only then replaced': coditect.deafToItsEnd,
    'coditect: healed by the first nudge, it receives no other': coditect.healedByTheNudge,
    'coditect: a handoff request is followed, and its replacement continues from there': coditect.handoffByDecision,
    'coditect: more time twice and no more, then ended by decision': coditect.moreTimeTwice,
    'coditect: failing, it is ended and recovered at once': coditect.failingEndedAtOnce,
    'coditect: at work all the time and without a checkpoint, it is nudged, ended and recovered':
      unsaved.nudgedThoughItWorks,
    'coditect: at work all the time and saving, it is left alone': unsaved.whoSavesIsLeftAlone,
    'gascity: silent through the dance, it is executed': gascity.executedWhenSilent,
    'gascity: every step of the dance names its one warrant': gascity.danceNamesItsWarrant,
    'gascity: its last output is kept': gascity.forensicsBeforeTheKill,
    'gascity: its answer pardons it': gascity.pardonedByItsAnswer,
    'gascity: what it does when it is asked pardons it': gascity.pardonedByItsProgress,
    'gascity: without patterns, the report of its work is enough': gascity.leftBehindByItsWork,
    'gascity: off until it is requested': gascity.offUntilRequested,
    'hive: tickets, triage, a notification, and an untouched worker': hive.ticketTriageNotification,
    'a handoff that is asked for by the plan, and one that does not come': handing.byPlan,
    'an agent without a runtime is nudged at the gateway, and never ended': gateway.nudgedAtTheGateway,
    'an agent that dies while it is being ended has one replacement': racing.diesAsItIsEnded,
    'a breaker that was open for the dead is closed for its replacement': racing.breakerEndsWithItsInstance,
  },
  slow: {
    'coditect: its replacement is judged by its own reports': coditect.replacementIsLeftAlone,
    'who is ended while paused, stopped on its host or done is not resumed': cancelled.staysCancelled,
  },
};

const planPerSignal: Act = {
  name: 'a plan a signal',
  cast: [botbox, omniclaude, racing].flatMap(({ roles }) => roles),
  stories: {
    'botbox: silent, it is ended, its claims are released, people are notified': botbox.silentEndedAndReleased,
    'botbox: of the same error again and again people are notified, and nothing else': botbox.sameErrorReported,
    'botbox: reported, and silent then, it is ended too': botbox.reportedThenSilent,
    'botbox: where its file sets it, the same error ends it and blocks its task': botbox.blockedForItsError,
    'botbox: limited, it is paused and resumed, never ended': botbox.limitedPausedAndResumed,
    'botbox: limited for long, each pause is twice as long, and nothing else follows': botbox.limitedForLong,
    'botbox: a result without its completion: ended, its task left in progress': botbox.unreportedLeftInProgress,
    'botbox: who burns tokens waits for a person': botbox.burnsUntilDecided,
    'botbox: one target, a stale claim, a crash: people are notified': botbox.onlyReported,
    'omniclaude: two fresh agents from the checkpoint, then Blocked': omniclaude.redispatchedTwiceThenBlocked,
    'omniclaude: its attempts are counted on when their counter is killed': omniclaude.attemptsSurviveTheCounter,
    'omniclaude: what it had done is saved in its own file': omniclaude.itsWorkSaved,
    'omniclaude: its healthcheck event reports it': omniclaude.itsEventReported,
    'omniclaude: above 80 % of its context it is relieved, at 80 % it is not': omniclaude.relievedOfAFullContext,
    'omniclaude: any rate limit is a stall': omniclaude.relievedOfARateLimit,
    'omniclaude: a long Bash call is waited for': omniclaude.longBashWaitedFor,
    'omniclaude: what its tracker has closed is left': omniclaude.closedWorkIsLeft,
    'a message that an agent has not received is not delivered to its replacement': racing.replacementGetsItsOwn,
    'an end meant for an earlier instance leaves the next alone': racing.lateKillHarmsNone,
    'who holds a task keeps it when another on it dies': racing.assigneeKeepsItsTask,
  },
  slow: {},
};

const peopleAndUntouched: Act = {
  name: 'people, and untouched agents',
  cast: [gastown, people, dogs, starting, odd, breakers].flatMap(({ roles }) => roles),
  stories: {
    'gas town: busy, unhooked, testing, newborn, prompting and done are left alone': gastown.leftAlone,
    'gas town: dead, it is recovered, and no agent is ended': gastown.deadAndRecovered,
    'gas town: a dog over its time is watched, warranted, then cleared by force': dogs.watchedWarrantedCleared,
    'a start that fails is followed by the next attempt, then by people, who may start again': starting.triedAgain,
    'an unknown value is refused and wedges nothing': odd.wedgesNothing,
    'a breaker that people close counts from nothing': breakers.closedByPeople,
    'a waiting case, pardoned over HTTP': people.decidedOverHttp,
    'whom they end stays ended': people.endedByPeopleStaysEnded,
    'whom they recover is replaced at once': people.recoveredByPeople,
    'what they have typed comes neither into a start, a call nor a question': people.typedOnlyAtItsPrompt,
    'they review what fails its probation': people.failedProbationIsReviewed,
  },
  slow: {
    'gas town: idle with work: reminded, then urgently, then people, for ever': gastown.remindedTwiceThenPeople,
    'ended and recovered by a decision over Kafka': people.decidedOverKafka,
  },
};

/** The stories of an act run at once. The acts of a list run one after the other, and the lists at once. */
export const tracks: readonly (readonly Act[])[] = [[laddersAndDances], [planPerSignal, peopleAndUntouched]];

/** The acts that run one after the other, because each concerns the whole fleet. */
export const alone: Act = {
  name: 'the fleet',
  cast: fleet.roles,
  stories: {
    'in a dry run each step reports what it would have done': fleet.dryRun,
    'halted, it observes and does nothing': fleet.halted,
    'eight die at once: one incident, and nothing is ended': fleet.massDeath,
    'a working agent is not judged unhealthy because the monitor stood still': fleet.standingStill,
  },
  slow: {},
};
