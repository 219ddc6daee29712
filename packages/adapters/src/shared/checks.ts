import { running, runs } from './commands.ts';

/** Options of package managers: these have a value, and any other has none. */
const WITH_VALUE = '(?:--filter|-F|--prefix|-C|--dir|--cwd|--workspace|--loglevel|--package|-p)';
const OPTIONS = String.raw`(?:\s+(?:${WITH_VALUE}(?:=|\s+)[^\s;&|]+|(?!${WITH_VALUE}[\s=])--?\w[\w-]*(?:=[^\s;&|]+)?))*`;
const WORKSPACE = String.raw`(?:\s+workspaces?\s+(?:run|foreach${OPTIONS}|[^\s;&|]+))?`;
const END = String.raw`(?=$|[\s"';&|)])`;

const CHECKING_COMMAND = running([
  // tests
  String.raw`(?:python[\d.]* -m )?(?:pytest|unittest|nose2|tox|nox)\b`,
  String.raw`(?:npm|pnpm|yarn|bun)${OPTIONS}${WORKSPACE}(?:\s+(?:run|run-script|exec)${OPTIONS})?\s+(?:t${END}|tst${END}|test|build|lint|check|typecheck|tsc|eslint|jest|vitest)\b`,
  String.raw`(?:jest|vitest|mocha|ava|rspec|phpunit|ctest|coqc|busted|bats)\b`,
  String.raw`(?:python[\d.]*|node|bash|sh|ruby|perl)\s+(?:\S*/)?(?:test|check|verify)[\w.-]*`,
  // builds
  String.raw`(?:cargo|go|dotnet|swift|mix|zig|bazel)(?:\s+\+[\w.-]+)?${OPTIONS}\s+(?:test|nextest|build|check|clippy|vet)\b`,
  String.raw`(?:make|ninja|gradle|gradlew|mvn|cmake\s+--build)(?:\s|["']|$)`,
  String.raw`(?:just|task|rake|mage)${OPTIONS}\s+(?:test|build|lint|check|typecheck|verify|ci)\b`,
  String.raw`(?:gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|ghc|swiftc)\s`,
  // lints and type checks
  String.raw`(?:python[\d.]* -m )?(?:mypy|pyright|ruff|flake8|pylint|py_compile)\b`,
  String.raw`pre-commit\s+run\b`,
  String.raw`(?:tsc|eslint|biome|shellcheck|rubocop|golangci-lint)\b`,
]);

/** Whether a shell command checks the work by a tool of the common languages. */
export const isCheckingCommand = (command: unknown): boolean => runs(command, CHECKING_COMMAND);
