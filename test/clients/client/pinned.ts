import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClientKind } from '../model/answer.ts';

type Pinned = { readonly package: string; readonly version: string; readonly binary: string };

/** The clients of the suite. Fetched from npm, never part of the repository: Claude Code is not open source. */
export const pinned: Readonly<Record<ClientKind, Pinned>> = {
  'claude-code': { package: '@anthropic-ai/claude-code', version: '2.1.330', binary: 'claude' },
  codex: { package: '@openai/codex', version: '0.169.0', binary: 'codex' },
  'gemini-cli': { package: '@google/gemini-cli', version: '0.61.0', binary: 'gemini' },
};

const dir = path.resolve(import.meta.dirname, '../../../.cache/clients');

export const binDir = path.join(dir, 'node_modules/.bin');

const installedVersion = (name: string): string | null => {
  const file = path.join(dir, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return null;
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return version;
};

const isComplete = (kinds: readonly ClientKind[]): boolean =>
  kinds.every((kind) => installedVersion(pinned[kind].package) === pinned[kind].version);

/** Installs the missing ones of the pinned clients (up to 900 MB) into a folder that git ignores. */
export const installClients = (kinds: readonly ClientKind[]): void => {
  if (isComplete(kinds)) return;
  mkdirSync(dir, { recursive: true });
  const dependencies = Object.fromEntries(
    Object.values(pinned)
      .filter((client) => installedVersion(client.package) !== null || kinds.some((kind) => pinned[kind] === client))
      .map((client) => [client.package, client.version]),
  );
  writeFileSync(path.join(dir, 'package.json'), `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, stdio: 'inherit' });
  // npm 11 runs no install script by default, and Claude Code's script installs its binary.
  const claude = path.join(dir, 'node_modules', pinned['claude-code'].package);
  if (kinds.includes('claude-code')) execFileSync(process.execPath, ['install.cjs'], { cwd: claude, stdio: 'inherit' });
};
