import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClientKind } from '../model/answer.ts';
import { binDir } from './pinned.ts';

/** The folders of one session. */
export type Place = {
  readonly home: string;
  /** the project in which the client works */
  readonly project: string;
  /** gets a line for each hook event; null for a session without the recorder */
  readonly hookLog: string | null;
};

/** A question of a client at its first start, or in a new folder. */
export type StartQuestion = 'theme' | 'login' | 'key' | 'trust' | 'bypass';

export type SessionSettings = {
  readonly place: Place;
  /** where the scripted model plays this session */
  readonly modelUrl: string;
  /** the open questions of a first start; none for a client in use */
  readonly openQuestions: readonly StartQuestion[];
  /** whether the client runs every command without asking */
  readonly skipsPermissions: boolean;
  /** null starts the interactive client without a prompt */
  readonly prompt: string | null;
  readonly isHeadless: boolean;
  readonly moreArgs: readonly string[];
};

export type ClientCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** A shell script that appends what the client sends its hook, with the time, and answers nothing. */
const RECORDER = `#!/bin/sh
payload=$(cat)
printf '{"at":%s,"payload":%s}\\n' "$(date +%s%3N)" "$payload" >> "$1"
`;

/** The command of the hook recorder; null when the session has none. */
export const recorderCommand = ({ home, hookLog }: Place): string | null =>
  hookLog === null ? null : `sh ${path.join(home, 'record-hook.sh')} ${hookLog}`;

export const makePlace = (place: Place): void => {
  mkdirSync(place.project, { recursive: true });
  mkdirSync(place.home, { recursive: true });
  execFileSync('git', ['init', '-q', place.project]);
  writeFileSync(path.join(place.home, 'record-hook.sh'), RECORDER);
};

export const writeJson = (file: string, value: unknown): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
};

/**
 * The environment of every client. It contains only the path to Node of the caller's environment. Requests to any host
 * but loopback go to the scripted model, which refuses and counts them.
 */
export const commonEnv = (place: Place, modelUrl: string): Readonly<Record<string, string>> => {
  const proxy = new URL(modelUrl).origin;
  const searchPath = [binDir, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  return {
    PATH: searchPath,
    HOME: place.home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: '127.0.0.1,localhost',
  };
};

export type Client = {
  readonly kind: ClientKind;
  /** Writes the client's settings into the session's home and returns how it is started. */
  readonly prepare: (settings: SessionSettings) => ClientCommand;
};
