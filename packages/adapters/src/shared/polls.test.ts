import { expect, test } from 'vitest';
import { isWaitingCommand, isWaitingTool } from './polls.ts';

const POLLS: readonly string[] = [
  'sleep 30 && gh run list',
  'gh run list; sleep 30',
  'watch -n 5 ls',
  'until curl -s localhost:8080; do sleep 2; done',
  'while ! test -f done; do\n  sleep 5\ndone',
  'kubectl wait --for=condition=ready pod/a',
  'kubectl -n web rollout status deploy/a',
  'kubectl get pods -w',
  'gh run watch 123',
  'gh pr checks 12 --watch',
  'docker wait job',
  'docker logs -f job',
  'aws cloudformation wait stack-create-complete',
  'tail -f out.log',
  'tail -n 20 -F out.log',
  'journalctl -u web -f',
  'python3 -c "import time; time.sleep(30)"',
];
const WRAPPERS: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => `bash -lc "${command}"`,
  (command) => `/bin/sh -c '${command}'`,
  (command) => `timeout 60 bash -c "${command}"`,
  (command) => `env X=1 Y='a b' sh -c "${command}"`,
  (command) => `nohup bash -c '${command}'`,
  (command) => `ssh host '${command}'`,
  (command) => `ssh -p 22 -i key -o BatchMode=yes user@host "${command}"`,
  (command) => `kubectl exec pod -- sh -c '${command}'`,
  (command) => `cd web && ${command}`,
];

test.each(POLLS)('a command that waits is a poll, by itself and in any wrapper: %s', (command) => {
  for (const wrapped of WRAPPERS) expect(isWaitingCommand(wrapped(command)), wrapped(command)).toBe(true);
});

test.each([
  ...['ssh host sleep 5', 'kubectl -n web exec pod/a -- sleep 30', 'docker run --rm alpine sleep 5'],
  ...['timeout 60 tail -f out.log', 'env X=1 sleep 5', 'nohup sleep 60 &', 'X=1 timeout -s KILL 5m watch ls'],
])('a program that waits is a poll in a wrapper without a shell: %s', (command) => {
  expect(isWaitingCommand(command)).toBe(true);
});

test.each([
  'ls sleep',
  'echo "sleep 5"',
  'cat watch.ts',
  'npm run watch-list',
  'tail -5 out.log',
  'tail -n 20 of.txt',
  'kubectl get pods',
  'kubectl logs web',
  'gh run view 123',
  'docker logs job',
  'grep -rn "tail -f" docs',
  'bash -lc "cat sleep.txt"',
  'timeout 60 npm test',
  'ssh sleep ls',
  "ssh host 'cat sleep.txt'",
  'kubectl exec pod -- cat sleep.txt',
  `cat > notes.md ${' '.repeat(2000)}; sleep 5`,
  undefined,
])('any other command is none, though it names one: %s', (command) => {
  expect(isWaitingCommand(command)).toBe(false);
});

test.each([
  'wait',
  'sleep',
  'browser_wait_for',
  'mcp__playwright__browser_wait_for',
  'waitForElement',
  'page.wait_until',
])('a tool with a word for waiting in its name is a poll: %s', (tool) => {
  expect(isWaitingTool(tool)).toBe(true);
});

test.each(['get_sleep_data', 'mcp__sleep__list', 'waitlist_add', 'mcp__wait_for_it__get', 'awaiter', 'set_wait_time'])(
  'a tool with such a word elsewhere is none: %s',
  (tool) => {
    expect(isWaitingTool(tool)).toBe(false);
  },
);
