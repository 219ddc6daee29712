import type { AgentSpec } from './agent.ts';
import type { Log } from './clock.ts';
import type { Body } from './hands.ts';
import type { Hold } from './hold.ts';
import type { HookDesk } from './hook-desk.ts';
import { appendTo } from './nudge-file.ts';
import type { AgentSocket, Push } from './socket.ts';
import { asOneLine, type Terminal } from './terminal.ts';
import type { Watch } from './watch.ts';

/** What one life is made of. */
export type LifeParts = {
  readonly spec: AgentSpec;
  readonly socket: AgentSocket;
  readonly watch: Watch;
  readonly desk: HookDesk;
  readonly terminal: Terminal;
  readonly hold: Hold;
};

const channelOf = ({ spec, socket }: LifeParts) =>
  spec.nudge === 'auto' ? (socket.hasClient() ? 'socket' : 'terminal') : spec.nudge;

/** As if a person had typed it and pressed return. */
const typed = ({ watch, terminal }: LifeParts, text: string): void => {
  const line = `${asOneLine(text)}\r`;
  watch.screen.typing(line);
  terminal.write(line);
};

const told = (parts: LifeParts, message: Push, text: string): boolean => {
  const { spec, socket } = parts;
  switch (channelOf(parts)) {
    case 'socket':
      return socket.push(message);
    case 'file':
      if (spec.nudgeFile) appendTo(spec.nudgeFile, message, text);
      return spec.nudgeFile !== null;
    case 'hook':
      return false;
    case 'terminal':
      typed(parts, text);
      return true;
  }
};

/** Whatever way it is told things by; one at a terminal hears it from SIGTERM. */
export const askToLeave = ({ socket, spec }: LifeParts, reason: string, log: Log): void => {
  const request = { type: 'shutdown_request', reason } as const;
  socket.push(request);
  if (spec.nudgeFile === null) return;
  try {
    appendTo(spec.nudgeFile, request, `Please stop: ${reason}`);
  } catch (error) {
    log('the agent is not asked to leave', { agentId: spec.agentId, error: String(error) });
  }
};

/** The process as its orders see it. `how`: how it has ended, null while it lives. */
export const bodyOf = (parts: LifeParts, how: () => string | null, end: Body['end']): Body => {
  const { spec, watch, desk, terminal, socket, hold } = parts;
  return {
    pid: terminal.pid,
    process: () => ({
      instanceId: spec.instanceId,
      ended: how(),
      progress: watch.progress,
      channel: channelOf(parts),
      atQuestion: watch.atQuestion,
      quiet: watch.isQuiet,
      paused: hold.isPaused,
      wentOn: hold.wentOnByItself,
    }),
    tell: (message, text) => {
      watch.told(text);
      return told(parts, message, text);
    },
    push: socket.push,
    resetBreaker: (name) => desk.reset(name),
    stop: (forMs) => hold.stop(forMs),
    go: () => hold.go(),
    end,
  };
};
