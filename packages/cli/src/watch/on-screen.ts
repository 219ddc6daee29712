import { emitKeypressEvents, type Key as Keypress } from 'node:readline';
import { setTimeout as after } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { untilStopped, view } from '../terminal.ts';
import { openDrawing } from './draw.ts';
import { type Extent, type Key, press, type Situation, START } from './keys.ts';
import { screenOf } from './screen.ts';
import { EVERY_MS, type Look, lookAgain, NO_LOOK, type Selection } from './seen.ts';

/** Other programs may write to the terminal: every line is drawn again after so many looks. */
const LOOKS_UNTIL_REDRAWN = 5;

/** A screen of its own that keys move, until q or Ctrl-C. */
export const watchOnScreen = async (client: Client, selection: Selection, opened: string | null): Promise<void> => {
  const stopped = untilStopped();
  const { stdout } = process;
  const drawing = openDrawing((text) => stdout.write(text));
  const quit = new AbortController();
  let at: Situation = opened === null ? START : { kind: 'agent', agentId: opened, top: 0, behind: START };
  let look: Look = NO_LOOK;
  let extent: Extent = { shown: [], lines: 0, page: 1 };
  let pause = new AbortController();
  let isInterrupted = false;

  const draw = (): void => {
    const screen = screenOf(view(), stdout.rows, at, look);
    extent = screen.extent;
    drawing.draw(screen.lines, stdout.rows);
  };
  const onKey = (key: Key): void => {
    const next = press(at, key, extent);
    if (next === null) {
      isInterrupted = key.ctrl;
      quit.abort();
      return;
    }
    const isOpened = next.kind === 'agent' && at.kind === 'fleet';
    at = next;
    draw();
    if (isOpened) pause.abort();
  };
  const onResize = (): void => {
    drawing.forget();
    draw();
  };

  stdout.on('resize', onResize);
  const release = process.stdin.isTTY ? listen(onKey) : () => {};
  const ended = AbortSignal.any([stopped, quit.signal]);
  try {
    for (let looks = 0; !ended.aborted; looks += 1) {
      pause = new AbortController();
      look = await lookAgain(client, selection, at.kind === 'agent' ? at.agentId : null, look);
      if (looks % LOOKS_UNTIL_REDRAWN === 0) drawing.forget();
      if (!ended.aborted) draw();
      await after(EVERY_MS, undefined, { signal: AbortSignal.any([pause.signal, ended]) }).catch(() => {});
    }
  } finally {
    release();
    stdout.off('resize', onResize);
    drawing.leave();
  }
  // The raw mode keeps Ctrl-C from the other programs in the foreground, such as npm start.
  if (isInterrupted) process.kill(0, 'SIGINT');
};

/** Gives what undoes it. */
const listen = (onKey: (key: Key) => void): (() => void) => {
  const { stdin } = process;
  const onKeypress = (text: string | undefined, { name, ctrl }: Keypress): void =>
    onKey({ name, ctrl: ctrl === true, text });
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on('keypress', onKeypress);
  stdin.resume();
  return () => {
    stdin.off('keypress', onKeypress);
    stdin.setRawMode(false);
    stdin.pause();
  };
};
