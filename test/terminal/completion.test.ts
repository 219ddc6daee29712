import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWorld, type World } from '../page/world-model.ts';

const run = promisify(execFile);
const program = path.resolve(import.meta.dirname, '../../.cache/bundles/vigil.mjs');

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-names-'));
const script = path.join(folder, 'completion.bash');
let world: World;

const environment = (url: string, token: string) => ({
  ...{ PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  ...{ VIGIL_DASHBOARD_URL: url, VIGIL_DASHBOARD_TOKEN: token },
});
const vigil = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  run(process.execPath, [program, ...args], { env });

beforeAll(async () => {
  world = await openWorld(60);
  writeFileSync(path.join(folder, 'vigil'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(script, (await vigil({}, 'completion', 'bash')).stdout);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** What bash completes at the end of a line; it divides the words as readline does. */
const completed = async (line: string, env = environment(world.url, world.token)): Promise<readonly string[]> => {
  const words = line.split(/\s+|(?<=[:=])|(?=[:=])/);
  const text = `. "$1"; shift
COMP_LINE="$1"; shift; COMP_POINT=\${#COMP_LINE}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _vigil; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await run('bash', ['-c', text, 'bash', script, line, ...words], { env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((one) => one !== '');
};

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** How README has people call the program: it is not on the PATH then. */
const ALIAS = `alias vigil="${process.execPath} ${program}"`;
const asked = (shell: Shell, line: string): readonly string[] => {
  switch (shell) {
    case 'bash': {
      const words = line.split(' ').map((word) => `'${word}'`);
      return [
        `source <(vigil completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(${words.join(' ')})`,
        `COMP_CWORD=${words.length - 1}; _vigil; printf 'FOUND %s\\n' "\${COMPREPLY[@]}"; exit`,
      ];
    }
    // Tab completes the line, and what is put before it prints it.
    case 'zsh':
      return [
        'autoload -U compinit && compinit -D -u; source <(vigil completion zsh); bindkey -s "^X" "^Aprint FOUND ^Mexit^M"',
      ];
    case 'fish':
      return [`vigil completion fish | source; printf 'FOUND %s\\n' (complete -C '${line}'); exit`];
  }
};

/** A pseudo-terminal in which zsh completes the line by Tab, as for a person. */
const inZshTerminal = (setup: readonly string[], line: string): string => `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='REA''DY> '"; zpty -r shell out '*READY> *'
${setup.map((one) => `zpty -w shell ${quoted(one)}; zpty -r shell out '*READY> *'`).join('\n')}
zpty -n -w shell ${quoted(`${line}\t`)}; zpty -n -w shell $'\x18'
while zpty -r shell out; do print -r -- "$out"; done`;
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What an interactive shell completes, with `vigil` as an alias or on the PATH. Null: the shell is not installed. */
const completedIn = async (shell: Shell, line: string, isAlias: boolean): Promise<string | null> => {
  const env = { ...environment(world.url, world.token), TERM: 'xterm' };
  if (isAlias) env.PATH = process.env.PATH ?? '';
  const lines = [...(isAlias ? [ALIAS] : []), ...asked(shell, line)];
  const [file, args] =
    shell === 'bash'
      ? ['bash', ['--norc', '--noprofile', '-i', '-c', `eval ${lines.map(quoted).join('\neval ')}`]]
      : shell === 'zsh'
        ? ['zsh', ['-f', '-c', inZshTerminal(lines, line)]]
        : ['fish', ['--no-config', '-i', '-c', lines.join('\n')]];
  try {
    return (await run(file as string, args as string[], { env, timeout: 60_000 })).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const idOf = (index: number): string => world.rows.agents[index]?.agentId ?? '';

test('a shell completes the names that the dashboard has, of each kind, where a command takes one', async () => {
  const agent = idOf(3);
  expect(await completed(`vigil explain ${agent.slice(0, -1)}`)).toContain(agent);
  expect(await completed(`vigil health ${agent}`)).toEqual([agent]);
  expect(await completed(`vigil case list --agent ${agent}`)).toEqual([agent]);
  expect(await completed(`vigil case list --agent=${agent}`)).toEqual([agent]);
  const caseId = world.rows.cases[0]?.caseId ?? '';
  expect(await completed(`vigil case show ${caseId}`)).toContain(caseId);
  const taskId = world.rows.tasks[5]?.taskId ?? '';
  expect(await completed(`vigil task show ${taskId}`)).toContain(taskId);
  expect(await completed('vigil inbox answer case/')).toContain(`case/${caseId}`);
  expect(await completed('vigil alert test pager')).toEqual(['pagerduty']);
  expect(await completed('vigil policy show cod')).toEqual(['coditect']);
  expect(await completed('vigil health --policy cod')).toEqual(['coditect']);
});

test.each(SHELLS)('%s completes names and the commands after help, under an alias and on the PATH', async (shell) => {
  const agent = idOf(3);
  for (const isAlias of [true, false]) {
    const shown = await completedIn(shell, `vigil explain ${agent.slice(0, -1)}`, isAlias);
    if (shown === null) return;
    expect(shown).toMatch(new RegExp(`^FOUND .*${agent}`, 'm'));
    expect(await completedIn(shell, 'vigil help case deci', isAlias)).toMatch(/^FOUND .*decide/m);
  }
});

test('the alerts that can be acknowledged are completed, and not the resolved ones', async () => {
  const open = world.rows.alerts.filter(({ resolvedAt }) => resolvedAt === null).map(({ alertId }) => alertId);
  expect(open.length).toBeGreaterThan(0);
  expect(open.length).toBeLessThan(world.rows.alerts.length);
  for (const command of ['ack', 'resolve']) {
    const found = await completed(`vigil alert ${command} `);
    expect(found.filter((word) => !word.startsWith('-')).toSorted()).toEqual(open.toSorted());
  }
});

test('a name is completed once, and options and choices as before', async () => {
  expect(await completed(`vigil explain ${idOf(3)} `)).not.toContain(idOf(3));
  expect(await completed('vigil explain --al')).toEqual(['--all']);
  expect(await completed(`vigil case decide ${world.rows.cases[0]?.caseId} par`)).toEqual(['pardon']);
  expect(await completed('vigil evaluate --policy cod')).toEqual([]);
});

test('a name with a sign at which bash divides words is completed as a whole', async () => {
  const name = idOf(7);
  world.changeAgent(name, { agentId: 'team:worker-7' });
  // bash replaces what is behind the sign.
  expect(await completed('vigil explain team:wor')).toEqual(['worker-7']);
  expect(await completed('vigil explain team:')).toEqual(['worker-7']);
  expect(await completed('vigil explain tea')).toEqual(['team:worker-7']);
  world.changeAgent('team:worker-7', { agentId: name });
});

test('a name that a shell would read as more than a word is not completed, and nothing of it is run', async () => {
  const [name, mark] = [idOf(8), path.join(folder, 'mark')];
  for (const agentId of [`evil$(touch ${mark})`, `evil;touch ${mark}`, 'evil\u001b[2J', '-rf', 'evil one']) {
    world.changeAgent(name, { agentId });
    expect(await completed('vigil explain evil')).toEqual([]);
    expect(await completed('vigil explain ')).not.toContain(agentId);
    world.changeAgent(agentId, { agentId: name });
  }
  expect(existsSync(mark)).toBe(false);
});

test('where no dashboard answers, nothing is completed and nothing is printed, within a second of patience', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  const port = (silent.address() as { readonly port: number }).port;
  for (const env of [
    environment('http://127.0.0.1:9', 'a-token'),
    environment(`http://127.0.0.1:${port}`, 'a-token'),
    environment(world.url, 'not-its-token'),
    environment('not an address', 'a-token'),
    { PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  ]) {
    expect(await completed('vigil explain ', env as ReturnType<typeof environment>)).not.toContain(idOf(3));
    expect(await vigil(env, 'complete', 'agent')).toEqual({ stdout: '', stderr: '' });
  }
  silent.close();
});

test('the command that lists names for shells is not one that people are shown', async () => {
  expect((await vigil({}, '--help')).stdout).not.toMatch(/^ +complete /m);
  expect((await vigil({}, 'completion', 'bash')).stdout).not.toContain("' complete'");
});
