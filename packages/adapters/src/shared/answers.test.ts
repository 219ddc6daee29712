import { describe, expect, test } from 'vitest';
import { isAnswer, mayBeAnswer } from './answers.ts';

describe('an exit code that is not 0', () => {
  test.each([
    'grep -rn TODO src',
    'cd web && grep -rn "a|b" src',
    'test -f done',
    '[ -d out ]',
    'diff a.txt b.txt',
    'ls *.tmp',
    'ps aux | grep node',
    'LC_ALL=C pgrep -f server',
    'which cargo',
    'grep -rn TODO src 2>&1',
    'grep -q x a.txt &> /dev/null',
    'grep -q x a.txt;',
    'grep -q x a.txt # is it there?',
    '[[ -f a.txt && -d out ]]',
    'cd web && [[ -f a.txt || -d out ]]',
    'sudo grep -q x /etc/hosts',
    'time rg TODO',
    'git diff --quiet',
    'git diff --exit-code -- src',
    'git merge-base --is-ancestor main HEAD',
    'git check-ignore out',
    'lsof -ti :3000',
    'pidof node',
    'type cargo',
    'jq -e .ready state.json',
  ])('1 is an answer of a command that asks: %s', (command) => {
    expect(isAnswer({ command }, 'exit_1')).toBe(true);
    expect(isAnswer({ command: ['bash', '-lc', command] }, 'exit_1')).toBe(true);
    expect(isAnswer({ command }, 'exit_2')).toBe(false);
    expect(isAnswer({ command }, 'tool_error')).toBe(false);
  });

  test.each([
    'npm test',
    'grep -q x a.txt && ./deploy.sh',
    'ls; git push',
    'echo "; grep x"',
    'testing',
    './ls.sh',
    'grep -q x a.txt 2>&1 && ./deploy.sh',
    '[[ -f a.txt ]] && ./deploy.sh',
    'git diff --stat',
    'git merge main',
    'jq .ready state.json',
    'sudo ./deploy.sh',
    'typeset',
    'npm test 2>&1',
  ])('1 is a failure of any other command: %s', (command) => {
    expect(isAnswer({ command }, 'exit_1')).toBe(false);
  });

  test('124 is an answer of `timeout`, and of no other command', () => {
    expect(isAnswer({ command: 'timeout 5 npm start' }, 'exit_124')).toBe(true);
    expect(isAnswer({ command: 'timeout 5 npm start' }, 'exit_1')).toBe(false);
    expect(isAnswer({ command: 'npm start' }, 'exit_124')).toBe(false);
    expect(isAnswer({ path: 'grep x' }, 'exit_1')).toBe(false);
  });

  test('that was not recorded is an answer unless the program names itself in its message', () => {
    expect(mayBeAnswer({ command: 'grep -rn TODO src' }, '')).toBe(true);
    expect(mayBeAnswer({ command: 'timeout 5 npm start' }, 'listening on 3000')).toBe(true);
    expect(mayBeAnswer({ command: 'grep -rn TODO src' }, 'grep: src: No such file or directory')).toBe(false);
    expect(mayBeAnswer({ command: 'npm start' }, '')).toBe(false);
  });
});
