import { expect, test } from 'vitest';
import { isCheckingCommand } from './checks.ts';

test.each([
  'npm test',
  'cd web && pnpm run lint',
  'CI=1 timeout 60s npx vitest run',
  'python -m pytest -q tests/test_api.py 2>&1',
  'cargo clippy',
  'go vet ./...',
  'make -j8',
  'gcc -o image image.c -lm && ./image',
  'python3 /app/test_client.py',
  'uv run mypy src',
  'for f in a b; do shellcheck $f; done',
  'bash -lc "cd web && npm test"',
  "sh -c 'make'",
  '/bin/bash -c "pytest -q"',
  'env CI=1 NODE_ENV="test" npm test',
  'timeout -k 5 120s cargo build',
  'nohup ./gradlew build > out.log 2>&1 &',
  "sudo -u app bash -lc 'timeout 60 go test ./...'",
  'docker compose exec -T web npm run lint',
  './node_modules/.bin/tsc --noEmit',
])('a test, a build, a lint or a type check is a check: %s', (command) => {
  expect(isCheckingCommand(command)).toBe(true);
});

test.each([
  'ls test',
  'cat Makefile',
  'grep -r pytest .',
  'echo "npm test"',
  'pip install pytest',
  'npm install',
  'git commit -m "make it work"',
  'cd build && ls',
  `bash -lc "ls test"`,
  'timeout 60 npm install',
  'env | grep make',
  'nohup node server.js &',
  `cat > notes.md ${' '.repeat(2000)}; npm test`,
  undefined,
])('any other command is not, though it names one: %s', (command) => {
  expect(isCheckingCommand(command)).toBe(false);
});
