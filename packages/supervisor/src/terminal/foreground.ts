import type { ReadStream, WriteStream } from 'node:tty';
import type { Supervised } from '../agent/agent-instance.ts';
import type { Logger } from '../clock.ts';
import { stoppedBy } from '../exit/exit-reason.ts';
import type { Size } from './terminal.ts';

/** The place where Vigil was started: a terminal, a pipe or neither. */
export type ForegroundStreams = {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** false: as if neither were a terminal */
  readonly tty: boolean;
  /** what the agent has printed, once it is written to `stdout` */
  readonly onOutput: (data: Buffer) => void;
  /** calls the listener with signals sent to the supervisor, until it exits: they are meant for the agent */
  readonly onSignal: (listener: (signal: NodeJS.Signals) => void) => void;
};

const END_OF_INPUT = '\x04';
const CTRL_C = 0x03;

const isTerminal = (stream: ReadStream | WriteStream | NodeJS.ReadStream | NodeJS.WriteStream): boolean =>
  stream.isTTY === true;

export type Attached = {
  readonly size: Size;
  /** its output goes to a pipe or a file, which must get what the agent printed */
  readonly isPiped: boolean;
  readonly output: (data: Buffer) => void;
  /** connects input, size and signals; gives what undoes it at the end of the agent */
  readonly follow: (agent: Supervised) => () => void;
};

const passInput = ({ stdin, tty }: ForegroundStreams, agent: Supervised): (() => void) => {
  const isRaw = tty && isTerminal(stdin);
  const onData = (data: Buffer) => {
    if (isRaw && data.includes(CTRL_C)) agent.interrupted('Ctrl-C at its terminal');
    agent.terminal.write(data);
  };
  const onEnd = () => agent.terminal.write(END_OF_INPUT);
  // For good: a terminal that is gone can be neither read nor reset.
  stdin.on('error', () => {});
  if (isRaw) stdin.setRawMode(true);
  stdin.on('data', onData).on('end', onEnd);
  return () => {
    stdin.off('data', onData).off('end', onEnd);
    if (isRaw) stdin.setRawMode(false);
    stdin.pause();
    stdin.unref?.();
  };
};

const passSize = ({ stdout }: ForegroundStreams, agent: Supervised): (() => void) => {
  const onResize = () => agent.resize({ columns: stdout.columns, rows: stdout.rows });
  stdout.on('resize', onResize);
  return () => stdout.off('resize', onResize);
};

/** Signals of before the start of the agent reach it then. After its end they are ignored: none may keep the end from being reported. */
const passSignals = ({ onSignal }: ForegroundStreams, senderOf: () => string | null) => {
  const early: NodeJS.Signals[] = [];
  let pass = (signal: NodeJS.Signals): void => void early.push(signal);
  onSignal((signal) => pass(signal));
  return (agent: Supervised): (() => void) => {
    pass = (signal) => {
      const who = senderOf();
      agent.expectEnd(who === null ? `the supervisor received ${signal}` : stoppedBy(who));
      agent.terminal.signal(signal);
    };
    early.forEach(pass);
    return () => {
      pass = () => {};
    };
  };
};

/** Once no program reads its output any more, its terminal is gone, as it would be for any command. A full disk takes it again later. */
const outputLost = (agent: Supervised, { code }: NodeJS.ErrnoException): void => {
  if (code !== 'EPIPE' || agent.isOver()) return;
  agent.expectEnd('no program reads its output any more');
  agent.terminal.signal('SIGHUP');
};

/**
 * Connects the agent to the place where Vigil was started: its output goes there, and input there goes to it.
 * `senderOf`: the person who has just sent a signal, null if there is no marker.
 */
export const attach = (streams: ForegroundStreams, senderOf: () => string | null, logger: Logger): Attached => {
  let pauseOutput: (() => void) | null = null;
  const followSignals = passSignals(streams, senderOf);
  const { stdout } = streams;
  return {
    isPiped: !isTerminal(stdout),
    size: isTerminal(stdout) ? { columns: stdout.columns, rows: stdout.rows } : { columns: 120, rows: 40 },
    output: (data) => {
      if (!stdout.write(data)) pauseOutput?.();
      streams.onOutput(data);
    },
    follow: (agent) => {
      let isPaused = false;
      const goOn = () => {
        if (isPaused) agent.terminal.resume();
        isPaused = false;
      };
      pauseOutput = () => {
        if (!isPaused) agent.terminal.pause();
        isPaused = true;
      };
      stdout.on('drain', goOn);
      const { agentId } = agent.spec;
      stdout.once('error', (error) => logger('output of the agent is lost', { agentId, error: String(error) }));
      // For good: a write may fail after the end of the agent.
      stdout.on('error', (error: NodeJS.ErrnoException) => {
        goOn();
        outputLost(agent, error);
      });
      const undo = [passInput(streams, agent), passSize(streams, agent), followSignals(agent)];
      return () => {
        for (const one of undo) one();
      };
    },
  };
};
