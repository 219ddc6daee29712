import { running, runs } from './commands.ts';

const CHECKING_COMMAND = running([
  // tests
  String.raw`(?:python[\d.]* -m )?(?:pytest|unittest|nose2|tox|nox)\b`,
  String.raw`(?:npm|pnpm|yarn|bun)\s+(?:(?:run|exec)\s+)?(?:test|build|lint|check|typecheck|tsc|eslint|jest|vitest)\b`,
  String.raw`(?:jest|vitest|mocha|ava|rspec|phpunit|ctest|coqc|busted|bats)\b`,
  String.raw`(?:python[\d.]*|node|bash|sh|ruby|perl)\s+(?:\S*/)?(?:test|check|verify)[\w.-]*`,
  // builds
  String.raw`(?:cargo|go|dotnet|swift|mix|zig|bazel)\s+(?:test|build|check|clippy|vet)\b`,
  String.raw`(?:make|ninja|gradle|gradlew|mvn|cmake\s+--build)(?:\s|["']|$)`,
  String.raw`(?:gcc|g\+\+|cc|clang|clang\+\+|rustc|javac|ghc|swiftc)\s`,
  // lints and type checks
  String.raw`(?:python[\d.]* -m )?(?:mypy|pyright|ruff|flake8|pylint|py_compile)\b`,
  String.raw`(?:tsc|eslint|biome|shellcheck|rubocop|golangci-lint)\b`,
]);

/** Whether a shell command checks the work by a tool of the common languages. */
export const isCheckingCommand = (command: unknown): boolean => runs(command, CHECKING_COMMAND);
