import { readFileSync } from 'node:fs';
import { ASSIGNMENT, type Assigned, assigner, notPermitted, readAssignment } from '@vigil/policy';
import {
  askReach,
  type Gateway,
  GatewayRefused,
  isSameReach,
  type Logger,
  type Reach,
  type TerminalNotice,
} from '@vigil/supervisor';
import { z } from 'zod';
import { CannotProceed } from '../../errors.ts';
import { plain } from '../../render/plain.ts';

/** How long a start waits for a gateway that does not answer, milliseconds: an agent does not wait for its watcher. */
const PATIENCE_MS = 2000;
/** The same where the agent must be watched. */
const REQUIRED_PATIENCE_MS = 10_000;
const HTTP_NOT_FOUND = 404;

export type Wanted = {
  readonly runtimeId: string;
  /** null: the default policy */
  readonly healthPolicy: string | null;
  /** true: without a gateway no agent is started */
  readonly require: boolean;
};

/**
 * Whether the gateway will take the heartbeats, asked before anything is started.
 * @throws CannotProceed where it will not and must, and for a policy that is not there
 */
export const reachBeforeStart = async (gateway: Gateway, wanted: Wanted): Promise<Reach> => {
  const reach = await askReach(gateway, wanted.runtimeId, wanted.require ? REQUIRED_PATIENCE_MS : PATIENCE_MS);
  if (reach.kind === 'unwatched') {
    if (wanted.require) throw new CannotProceed(`not started, since it would not be watched: ${reach.why}`);
    return reach;
  }
  if (wanted.healthPolicy !== null) await checkPolicy(gateway, wanted.healthPolicy);
  return reach;
};

const checkPolicy = async (gateway: Gateway, name: string): Promise<void> => {
  try {
    await gateway.policy(name, AbortSignal.timeout(PATIENCE_MS));
  } catch (error) {
    // A gateway that is away now refuses an unknown policy with the first heartbeat.
    if (!(error instanceof GatewayRefused) || error.status !== HTTP_NOT_FOUND) return;
    throw new CannotProceed(`--health-policy ${name}: ${error.detail}`);
  }
};

const servedDocument = z.object({ document: z.unknown() });

/**
 * The warning where the assignment gives an agent another policy than it requests. Null: it gets that policy, or the
 * assignment cannot be read now.
 */
export const assignmentWarning = async (gateway: Gateway, agent: Assigned): Promise<string | null> => {
  const { requestedPolicy: requested } = agent;
  if (requested === null) return null;
  try {
    const { document } = servedDocument.parse(await gateway.policy(ASSIGNMENT, AbortSignal.timeout(PATIENCE_MS)));
    // The requested policy is there: an earlier check refuses an unknown one.
    const judgedBy = assigner(readAssignment(document, ASSIGNMENT), () => true)(agent);
    return judgedBy === requested ? null : notPermitted(requested, judgedBy);
  } catch {
    return null;
  }
};

/** The line for people about a change; `url`: the gateway's. */
export const reachLine = (reach: Reach, url: string): string =>
  reach.kind === 'watched' ? `watched again by the gateway at ${url}` : `not watched: ${plain(reach.why)}`;

export const logReach = (logger: Logger, agentId: string, reach: Reach): void =>
  reach.kind === 'watched' ? logger('watched', { agentId }) : logger('not watched', { agentId, why: reach.why });

/** Bytes at the end of a log in which the last change is looked for. */
const LOG_END_BYTES = 1 << 18;

const loggedLine = z.object({
  time: z.string(),
  message: z.enum(['watched', 'not watched']),
  why: z.string().default(''),
});

const endOf = (path: string): string => {
  try {
    return readFileSync(path).subarray(-LOG_END_BYTES).toString('utf8');
  } catch {
    return '';
  }
};

const jsonOf = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

/** Since when, and why, the agent with this log is not watched, for people; null: it is, or its log does not show it. */
export const unwatchedByLog = (path: string): string | null => {
  const last = endOf(path)
    .split('\n')
    .findLast((line) => loggedLine.safeParse(jsonOf(line)).success);
  const change = loggedLine.safeParse(jsonOf(last ?? '')).data;
  return change?.message === 'not watched' ? plain(`not watched since ${change.time}: ${change.why}`) : null;
};

/** Lines that are kept while the agent has the terminal. */
const MOST_HELD = 10;

export type NoticeSettings = {
  readonly url: string;
  readonly write: (line: string) => void;
  /** a time of day for a line that is written later */
  readonly clock: () => string;
  /** where a line is shown while the agent has the terminal */
  readonly notice: Pick<TerminalNotice, 'show' | 'end'>;
};

/** One line of standard error for each change of whether the agent is watched, the first where it is not watched at the start. */
export class ReachNotices {
  readonly #settings: NoticeSettings;
  #last: Reach = { kind: 'watched' };
  #held: string[] | null = null;

  constructor(settings: NoticeSettings) {
    this.#settings = settings;
  }

  note(reach: Reach): void {
    if (isSameReach(this.#last, reach)) return;
    this.#last = reach;
    const { url, write, clock } = this.#settings;
    const line = reachLine(reach, url);
    if (this.#held === null) write(`vigil: ${line}`);
    else {
      this.#held.push(`vigil: at ${clock()} ${line}`);
      this.#show(true);
    }
  }

  #show(rings: boolean): void {
    const { notice, url } = this.#settings;
    notice.show(this.#last.kind === 'watched' ? null : `vigil: ${reachLine(this.#last, url)}`, rings);
  }

  /** The agent draws on the terminal from now on: a line would damage its screen, and the title of the terminal shows it. */
  hold(): void {
    this.#held = [];
    this.#show(false);
  }

  /** The agent has ended: the held lines are written. */
  release(): void {
    if (this.#held !== null) this.#settings.notice.end();
    const held = this.#held ?? [];
    this.#held = null;
    const left = held.length - MOST_HELD;
    if (left > 0) this.#settings.write(`vigil: ${left} earlier changes of whether it was watched are in its log`);
    for (const line of held.slice(-MOST_HELD)) this.#settings.write(line);
  }
}
