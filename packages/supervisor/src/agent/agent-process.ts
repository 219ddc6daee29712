import { STALL_DETECTED } from '../adapters/omniclaude.ts';
import { pause } from '../clock.ts';
import type { AgentDeps } from '../deps.ts';
import type { AgentSocket, Delivery, Push, TextPush } from '../messages/agent-socket.ts';
import type { HookResponder } from '../messages/hook-responder.ts';
import { appendTo } from '../messages/nudge-file.ts';
import type { ProcessState } from '../orders/admit.ts';
import { clientOf, decideInterrupt } from '../orders/client-control.ts';
import type { InterruptAgent, Outcome } from '../orders/order.ts';
import type { AgentProcess } from '../orders/order-executor.ts';
import type { PauseControl } from '../orders/pause-control.ts';
import type { OutputFeed } from '../output/output-feed.ts';
import type { Tree } from '../process/proc.ts';
import type { Lock } from '../state/lock.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { PROMPT_STEADY_MS } from '../typing/decide.ts';
import { type Keyboard, standsAtPrompt, typeText } from '../typing/type-text.ts';
import type { AgentMonitor } from './agent-monitor.ts';
import type { AgentSpec } from './agent-spec.ts';
import type { Meter } from './limits.ts';

/** Dependencies of one instance. */
export type InstanceDeps = {
  readonly spec: AgentSpec;
  readonly deps: AgentDeps;
  readonly socket: AgentSocket;
  readonly monitor: AgentMonitor;
  readonly hookResponder: HookResponder;
  readonly terminal: Terminal;
  /** how its processes are found */
  readonly tree: Omit<Tree, 'leader'>;
  readonly pauseControl: PauseControl;
  readonly meter: Meter;
  readonly lock: Lock;
  /** its output on the way to the watch */
  readonly feed: OutputFeed;
};

/** A hook that has reported is preferred to typing. Where no turn is open, no hook connects until text is typed. */
const channelOf = ({ spec, socket, monitor }: InstanceDeps): ProcessState['channel'] => {
  if (spec.nudge !== 'auto') return spec.nudge;
  if (socket.hasClient()) return 'socket';
  if (monitor.isReportedByOutput) return 'terminal';
  const { turnOpen } = monitor.session;
  const isHeadless = monitor.typing.kind === 'never';
  return turnOpen === true || (turnOpen === false && isHeadless) ? 'hook' : 'terminal';
};

const keyboardOf = ({ monitor, terminal, feed, deps }: InstanceDeps): Keyboard => ({
  surface: async () => {
    await feed.caughtUp();
    return monitor.drawn.fresh(deps.clock.monotonic);
  },
  session: () => monitor.session,
  write: (keys) => {
    if (monitor.echoesLines) monitor.screen.typing(keys);
    terminal.write(keys);
  },
  pause,
});

const delivered: Outcome = ['delivered'];

const typed = async (parts: InstanceDeps, text: string): Promise<Outcome> => {
  const outcome = await typeText(keyboardOf(parts), text);
  return outcome.kind === 'delivered' ? delivered : [outcome.kind, { why: outcome.why }];
};

/** How long a program on the socket has to confirm a text, milliseconds. */
const CONFIRM_WITHIN_MS = 5000;

const ofDelivery = (delivery: Delivery): Outcome => {
  switch (delivery) {
    case 'confirmed':
      return delivered;
    case 'unconfirmed':
      return ['uncertain', { why: 'it was sent to the agent’s socket, and not confirmed by {"received": order_id}' }];
    case 'no_listener':
      return ['failed', { why: 'no program is connected to the agent’s socket' }];
  }
};

const sendText = async (parts: InstanceDeps, message: TextPush, text: string): Promise<Outcome> => {
  const { spec, socket } = parts;
  switch (channelOf(parts)) {
    case 'socket':
      return ofDelivery(await socket.deliver(message, CONFIRM_WITHIN_MS));
    case 'file':
      if (spec.nudgeFile === null) return ['failed', { why: 'no nudge_file is configured' }];
      appendTo(spec.nudgeFile, message, text);
      return ['uncertain', { why: `nothing confirms that the agent has read ${spec.nudgeFile.path}` }];
    case 'hook':
      return ['failed', { why: 'no hook of its session has asked yet' }];
    case 'terminal':
      return typed(parts, text);
  }
};

/** Why an agent is to end, and how long it has. `isStall`: a finding ends it. */
export type EndNotice = { readonly reason: string; readonly graceMs: number; readonly isStall: boolean };

/**
 * Asks the agent to save a checkpoint and to stop, over its socket, its file, or the next hook call of its session. Nothing is typed: an
 * agent at a terminal learns it from SIGTERM. Without a grace, it cannot save anything. A hook that announced the end then would
 * only make a turn that ends begin again.
 */
export const requestEnd = (parts: InstanceDeps, { reason, graceMs, isStall }: EndNotice): void => {
  const { socket, spec, deps, hookResponder } = parts;
  const shutdown = { type: 'shutdown_request', reason: isStall ? STALL_DETECTED : reason } as const;
  const checkpoint = { type: 'checkpoint_request', reason, deadline_ms: graceMs } as const;
  const within = `within ${Math.ceil(graceMs / 1000)} s`;
  const requests: readonly (readonly [Push, string])[] = [
    ...(graceMs > 0
      ? [
          [
            checkpoint,
            `You will be ended (${reason}). Save a checkpoint ${within}: what is done, what is left.`,
          ] as const,
        ]
      : []),
    [shutdown, `Please stop: ${reason}`],
  ];
  for (const [request] of requests) socket.push(request);
  if (graceMs > 0)
    hookResponder.announce(requests.map(([request, text]) => `${text}\n${JSON.stringify(request)}`).join('\n'));
  if (spec.nudgeFile === null) return;
  try {
    for (const [request, text] of requests) appendTo(spec.nudgeFile, request, text);
  } catch (error) {
    deps.logger('the agent is not asked to leave', { agentId: spec.agentId, error: String(error) });
  }
};

/** Presses the key that ends a turn of the client, where its screen shows that it works. */
const interrupted = async (parts: InstanceDeps, { payload }: InterruptAgent): Promise<Outcome> => {
  const { spec, deps, monitor, terminal } = parts;
  const client = clientOf(deps.clients, spec);
  if (client === null) return ['failed', { why: `no adapter exists for the client that ${spec.command} starts` }];
  const how = client.interrupt(client.invocation);
  const keyboard = keyboardOf(parts);
  const { meaning } = await keyboard.surface();
  const pressing = decideInterrupt(how, { meaning, turnOpen: monitor.session.turnOpen, isWaiting: monitor.atQuestion });
  if (pressing.kind === 'refused') return ['failed', { why: pressing.why }];
  terminal.write(pressing.keys);
  if (!(await standsAtPrompt(keyboard)))
    return ['uncertain', { why: 'the key was pressed, and the screen does not show that the turn ended' }];
  await pause(PROMPT_STEADY_MS);
  // No hook reports the end of a turn that a key has interrupted; the screen has shown it.
  const session = () => ({ ...monitor.session, turnOpen: false });
  const sent = await typeText({ ...keyboard, session }, payload.message);
  return ['done', { why: sent.kind === 'delivered' ? null : `the turn is interrupted; its text: ${sent.why}` }];
};

/** What an order may do to the process itself. */
type Acts = Pick<AgentProcess, 'end' | 'resumeSession'>;

/** The process as its orders see it. `how`: how it ended; null while it runs. */
export const agentProcessOf = (
  parts: InstanceDeps,
  how: () => string | null,
  { end, resumeSession }: Acts,
): AgentProcess => {
  const { spec, monitor, hookResponder, terminal, socket, pauseControl } = parts;
  let isBeingTypedAt = false;
  return {
    get pid() {
      return terminal.pid;
    },
    process: () => ({
      instanceId: spec.instanceId,
      ended: how(),
      progress: monitor.progress,
      channel: channelOf(parts),
      atQuestion: monitor.atQuestion,
      quiet: monitor.isQuiet,
      typing: monitor.typing,
      isBeingTypedAt,
      paused: pauseControl.isPaused,
      resumedByItself: pauseControl.resumedByItself,
    }),
    send: async (message, text) => {
      monitor.sent(text);
      isBeingTypedAt = true;
      try {
        return await sendText(parts, message, text);
      } finally {
        isBeingTypedAt = false;
      }
    },
    push: socket.push,
    resetBreaker: (name) => hookResponder.reset(name),
    pause: (forMs) => pauseControl.pause(forMs),
    resume: () => pauseControl.resume(),
    end,
    interrupt: (order) => interrupted(parts, order),
    resumeSession,
  };
};
