// Makes the recordings with the real clients: node test/clients/recordings/make/make.ts [WORD…]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from '../../client/clients.ts';
import { installClients, pinned } from '../../client/pinned.ts';
import { makePlace, type Place, type SessionSettings } from '../../client/session.ts';
import { startModel } from '../../model/model.ts';
import { COLUMNS, ROWS, startTerminal, type Terminal } from '../../terminal.ts';
import { castFiles, readCast, readmeOf, recordingsDir } from '../cast.ts';
import { claudeRecordings } from './claude-code.ts';
import { codexRecordings } from './codex.ts';
import { geminiRecordings } from './gemini-cli.ts';
import type { Recording, Stage } from './recording.ts';

const KEY_PAUSE_MS = 400;
/** The time after which an unchanged screen without a spinner counts as at rest. */
const SETTLE_MS = 1000;

const stageOf = (terminal: Terminal, verbose: boolean): Stage => ({
  shows: terminal.shows,
  press: async (...keys) => {
    for (const key of keys) {
      terminal.type(key);
      await sleep(KEY_PAUSE_MS);
    }
  },
  paste: async (text) => {
    terminal.type(`\u001B[200~${text}\u001B[201~`);
    await sleep(KEY_PAUSE_MS);
  },
  mark: async (situation, what) => {
    await sleep(SETTLE_MS);
    terminal.mark(`${situation}: ${what}`);
    if (verbose) console.log(`=== ${situation}: ${what}\n${terminal.screen()}\n`);
  },
  wait: sleep,
});

const withEnv = (env: Readonly<Record<string, string>>, more: Recording['moreEnv']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...env, ...more }).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );

const recordOne = async (recording: Recording, verbose: boolean): Promise<void> => {
  // A neutral folder: its name is on many of the screens.
  const base = process.env.RECORDING_FOLDER ?? path.join(os.tmpdir(), 'recording');
  rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  const place: Place = {
    home: path.join(base, 'home'),
    project: path.join(base, 'project'),
    hookLog: path.join(base, 'hooks.jsonl'),
  };
  makePlace(place);
  writeFileSync(path.join(place.project, 'a.txt'), 'one\ntwo\n');
  const model = await startModel({ onRequest: () => undefined });
  const modelUrl = model.open(recording.client, {
    name: 's',
    scenario: recording.scenario,
    workdir: place.project,
    thinkMs: 0,
  });
  const settings: SessionSettings = { ...recording, place, modelUrl, isHeadless: false };
  if (recording.earlierPrompt !== null) {
    const earlier = clients[recording.client].prepare({
      ...settings,
      isHeadless: true,
      prompt: recording.earlierPrompt,
      moreArgs: [],
    });
    const child = spawn(earlier.command, earlier.args, { cwd: earlier.cwd, env: earlier.env, stdio: 'ignore' });
    await once(child, 'exit');
    rmSync(place.hookLog ?? '', { force: true });
  }
  const command = clients[recording.client].prepare(settings);
  const terminal = startTerminal({ ...command, env: withEnv(command.env, recording.moreEnv) });
  const startedAt = Date.now();
  const dir = path.join(recordingsDir, recording.client);
  mkdirSync(dir, { recursive: true });
  try {
    await recording.play(stageOf(terminal, verbose));
    const header = {
      version: 2,
      width: COLUMNS,
      height: ROWS,
      timestamp: startedAt / 1000,
      title: `${recording.client} ${pinned[recording.client].version}: ${recording.name}`,
      env: { TERM: 'xterm-256color' },
    };
    const lines = [header, ...terminal.cast()].map((line) => JSON.stringify(line));
    writeFileSync(path.join(dir, `${recording.name}.cast`), `${lines.join('\n')}\n`);
    const hooks = place.hookLog !== null && existsSync(place.hookLog) ? readFileSync(place.hookLog, 'utf8') : '';
    if (hooks !== '') writeFileSync(path.join(dir, `${recording.name}.hooks.jsonl`), hooks);
    console.log(`${recording.client} ${recording.name}: ${lines.join('\n').length} bytes`);
  } finally {
    await terminal.end();
    await model.close();
  }
};

const main = async (words: readonly string[], verbose: boolean): Promise<number> => {
  const all = [...claudeRecordings, ...codexRecordings, ...geminiRecordings];
  const chosen = all.filter(({ client, name }) => words.every((word) => `${client} ${name}`.includes(word)));
  installClients([...new Set(chosen.map(({ client }) => client))]);
  let failures = 0;
  for (const recording of chosen) {
    try {
      await recordOne(recording, verbose);
    } catch (error) {
      failures += 1;
      console.error(`${recording.client} ${recording.name}: ${String(error)}`);
    }
  }
  writeFileSync(path.join(recordingsDir, 'README.md'), readmeOf(castFiles().map(readCast)));
  return failures === 0 ? 0 : 1;
};

process.exitCode = await main(
  process.argv.slice(2).filter((word) => word !== '--verbose'),
  process.argv.includes('--verbose'),
);
