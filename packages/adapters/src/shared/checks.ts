/** What precedes the name of a program: the start, a separator, a variable or a wrapper. */
const SEPARATOR = String.raw`(?:^|[;&|(\n]|\bthen\b|\bdo\b)\s*`;
const WRAPPER = String.raw`(?:(?:sudo|time|exec|uv run|poetry run|bundle exec|npx|[A-Z_]+=\S+|timeout [\w.]+)\s+)*`;
const CHECKS: readonly string[] = [
  // tests
  String.raw`(?:python[\d.]* -m )?(?:pytest|unittest|nose2|tox|nox)\b`,
  String.raw`(?:npm|pnpm|yarn|bun)\s+(?:(?:run|exec)\s+)?(?:test|build|lint|check|typecheck|tsc|eslint|jest|vitest)\b`,
  String.raw`(?:jest|vitest|mocha|ava|rspec|phpunit|ctest|coqc|busted|bats)\b`,
  String.raw`(?:python[\d.]*|node|bash|sh|ruby|perl)\s+(?:\S*/)?(?:test|check|verify)[\w.-]*`,
  // builds
  String.raw`(?:cargo|go|dotnet|swift|mix|zig|bazel)\s+(?:test|build|check|clippy|vet)\b`,
  String.raw`(?:make|ninja|gradle|\./gradlew|mvn|cmake\s+--build)(?:\s|$)`,
  String.raw`(?:gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|ghc|swiftc)\s`,
  // lints and type checks
  String.raw`(?:python[\d.]* -m )?(?:mypy|pyright|ruff|flake8|pylint|py_compile)\b`,
  String.raw`(?:tsc|eslint|biome|shellcheck|rubocop|golangci-lint)\b`,
];
const CHECKING_COMMAND = new RegExp(`${SEPARATOR}${WRAPPER}(?:${CHECKS.join('|')})`);

/** The first characters of a command that are searched for a check; the rest is mostly the text of a file. */
const SEARCHED = 2000;

/** Whether a shell command checks the work by a tool of the common languages. */
export const isCheckingCommand = (command: unknown): boolean =>
  typeof command === 'string' && CHECKING_COMMAND.test(command.slice(0, SEARCHED));
