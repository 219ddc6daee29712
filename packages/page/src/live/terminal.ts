import { NO_SESSION } from '../model/knowledge.ts';
import type { TerminalMessage } from '../model/terminal.ts';
import { plain, plainJson } from '../model/text.ts';
import { takeSlot } from './slots.ts';
import { tabVisibility, whileVisible } from './visible.ts';

const RECONNECT_MS = 2000;
/** The dashboard writes at least every 15 s; a connection without anything for this time is broken, milliseconds. */
const DEAD_AFTER_MS = 40_000;

export type TerminalListener = {
  readonly received: (message: TerminalMessage) => void;
  /** `isFinal`: the dashboard refuses it, and is not asked again */
  readonly lost: (why: string, isFinal: boolean) => void;
};

/** The dashboard refuses the terminal. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** It may be accepted later. */
const MAY_CHANGE = [401, 429, 503];

const refusalOf = async (response: Response): Promise<Error> => {
  if (response.status === 401) return new Error(NO_SESSION);
  const body = (await response.json().catch(() => null)) as { readonly detail?: unknown } | null;
  const why = typeof body?.detail === 'string' ? plain(body.detail) : `the dashboard answered with ${response.status}`;
  return MAY_CHANGE.includes(response.status) || response.status >= 500 ? new Error(why) : new Refused(why);
};

const readStream = async (agentId: string, on: TerminalListener, stop: AbortSignal): Promise<void> => {
  const dead = new AbortController();
  let timer = setTimeout(() => dead.abort(), DEAD_AFTER_MS);
  try {
    const response = await fetch(`/v1/agents/${encodeURIComponent(agentId)}/terminal`, {
      signal: AbortSignal.any([stop, dead.signal]),
      headers: { accept: 'text/event-stream' },
    });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    let rest = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(() => dead.abort(), DEAD_AFTER_MS);
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines)
        if (line.startsWith('data: ')) on.received(plainJson(line.slice('data: '.length)) as TerminalMessage);
    }
  } finally {
    clearTimeout(timer);
  }
};

/** Reads it in one of the slots of this browser. At an address where tabs share nothing, each tab is on its own. */
const readInSlot = async (agentId: string, on: TerminalListener, stop: AbortSignal): Promise<void> => {
  const giveUp = 'locks' in navigator ? await takeSlot(navigator.locks, agentId, crypto.randomUUID()) : () => {};
  try {
    await readStream(agentId, on, stop);
  } finally {
    giveUp();
  }
};

/**
 * Follows the terminal of one agent while the page is visible. The dashboard has a lease of it for that time, until the
 * returned function is called.
 */
export const followTerminal = (agentId: string, on: TerminalListener): (() => void) =>
  whileVisible(tabVisibility, () => followNow(agentId, on));

const followNow = (agentId: string, on: TerminalListener): (() => void) => {
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const error = await readInSlot(agentId, on, stop.signal).then(
        () => null,
        (failure: unknown) => failure,
      );
      if (stop.signal.aborted) return;
      if (error instanceof Refused) return on.lost(error.message, true);
      const isOwn = error instanceof Error && !(error instanceof TypeError) && error.name === 'Error';
      on.lost(isOwn ? error.message : 'the dashboard does not answer', false);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  };
  void follow();
  return () => stop.abort();
};
