import { spawn } from 'node:child_process';
import { KIND_SETTINGS, PLACEHOLDER, type Placeholder } from '@vigil/policy/channels';
import { messageOf, oneLine, plain } from '../delivery/message.ts';
import { type AlertEvent, deliveringTo, type Kind, type SinkDeps, TryLater } from '../delivery/sink.ts';

/** The value of each placeholder: a part of one argument, never more than one argument. */
const VALUES: Readonly<Record<Placeholder, (alert: AlertEvent) => string>> = {
  what: ({ type }) => type.replace('ALERT_', '').toLowerCase(),
  severity: ({ payload }) => payload.severity,
  route: ({ payload }) => payload.route,
  title: ({ payload }) => payload.title,
  text: ({ payload }) => oneLine(payload.text),
  agent: ({ payload }) => payload.agentId ?? '',
  task: ({ payload }) => payload.taskId ?? '',
  case: ({ payload }) => payload.caseId ?? '',
};
/** The service's own environment holds its secrets, so a command gets only these variables and the locale's. */
const PASSED_ON: readonly string[] = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'];

const environmentOf = (env: SinkDeps['env'], named: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(
      ([variable]) => PASSED_ON.includes(variable) || variable.startsWith('LC_') || named.includes(variable),
    ),
  );

/** Run without a shell, with the message as JSON on standard input. Any exit code but 0 is a failure. */
export const command: Kind<'command'> = {
  settings: KIND_SETTINGS.command,
  open: (name, { argv, timeout, env: named }, deps) =>
    deliveringTo(name, async (alert) => {
      const message = await messageOf(alert, name, deps);
      const secrets = [...named.map((one) => deps.env[one] ?? ''), ...tokensIn(message)];
      await run(
        argv.map((one) => filled(one, alert)),
        JSON.stringify(message),
        { timeout, env: environmentOf(deps.env, named), secrets },
      );
    }),
};

/** Any caller that has the token of a decision link may answer with it. */
const tokensIn = ({ data: { decision } }: Awaited<ReturnType<typeof messageOf>>): readonly string[] =>
  Object.values(decision?.links ?? {}).map((link) => new URL(link).searchParams.get('link') ?? '');

/**
 * The last characters that a command has written, without the secrets that it was given. A secret may arrive in two parts, so
 * more is kept than is shown.
 */
const keptOutput = (given: readonly string[]) => {
  const secrets = given
    .flatMap((one) => [one, one.trim()])
    .filter((one) => one !== '')
    .toSorted((one, other) => other.length - one.length);
  const kept = SHOWN_CHARACTERS + (secrets[0]?.length ?? 0);
  let output = '';
  return {
    add: (text: string): void => {
      output = secrets.reduce((shown, secret) => shown.replaceAll(secret, '…'), output + text).slice(-kept);
    },
    shown: (): string => plain(output.slice(-SHOWN_CHARACTERS).trim()),
  };
};

/**
 * In one pass: what an agent wrote is not looked through for placeholders. A space keeps it from being an option of the
 * command; refusing it would let an agent suppress its alerts.
 */
const filled = (argument: string, alert: AlertEvent): string => {
  const text = argument.replaceAll(PLACEHOLDER, (_, name: string) =>
    plain(VALUES[name as Placeholder](alert)).slice(0, FILLED),
  );
  return text.startsWith('-') && !argument.startsWith('-') ? ` ${text}` : text;
};

/** An argument has its limit (128 KiB on Linux); all of the message is on standard input. */
const FILLED = 4_000;

const SHOWN_CHARACTERS = 500;

/** `secrets`: shown nowhere, even if the command prints them. */
type RunOptions = { readonly timeout: number; readonly env: NodeJS.ProcessEnv; readonly secrets: readonly string[] };

const run = (
  [file = '', ...args]: readonly string[],
  input: string,
  { timeout, env, secrets }: RunOptions,
): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const child = spawn(file, args, { stdio: ['pipe', 'ignore', 'pipe'], detached: true, env });
  const timer = setTimeout(() => child.pid !== undefined && end(-child.pid), timeout);
  const output = keptOutput(secrets);
  child.stderr.setEncoding('utf8').on('data', output.add);
  child.stdin.on('error', () => {}).end(`${input}\n`);
  child.once('error', (error) => reject(new TryLater(`${file} cannot be run: ${error.message}`)));
  child.once('exit', (code, signal) => {
    if (code === 0) return resolve();
    const how = signal === null ? `ended with ${code}` : `was ended by ${signal} (its timeout is ${timeout} ms)`;
    reject(new TryLater(`${file} ${how}: ${output.shown()}`));
  });
  return promise.finally(() => clearTimeout(timer));
};

/** Kills the command and all its processes. */
const end = (group: number): void => {
  try {
    process.kill(group, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
};
