import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import { cut, oneLine, plain } from '../delivery/message.ts';
import type { OpenAlert } from '../delivery/open-alerts.ts';
import type { AlertEvent, Kind, Running, SinkDeps } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { optionalSecretOf } from './secret.ts';

const REMEDIES: Remedies = {
  ...GONE,
  400: 'see the log of Alertmanager',
  401: 'give it a valid token',
  403: 'give it a valid token',
};

const REPEAT_MS = 60_000;
/** Alertmanager resolves an alert that is not repeated for so long. It is longer than some missed repetitions. */
const LIFE_MS = 300_000;
const MOST_IN_A_POST = 200;
const LONGEST_TEXT = 4000;

/**
 * Alerts for Alertmanager, which groups and routes them. It resolves an alert that is not repeated, so the open ones are
 * sent again each minute while time flows. When Vigil stops, its alerts end there after five minutes.
 */
export const alertmanager: Kind<'alertmanager'> = {
  settings: KIND_SETTINGS.alertmanager,
  open: (name, channel, deps) => {
    const { url, timeout } = channel;
    const token = optionalSecretOf(name, 'token', SECRETS.alertmanager.token, channel, deps);
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
    const address = `${url.replace(/\/$/, '')}/api/v2/alerts`;
    const send = async (alerts: readonly object[]): Promise<void> => {
      await post({ url: address, headers, body: JSON.stringify(alerts), timeout, remedies: REMEDIES }, deps);
    };
    const repeat = async (open: readonly OpenAlert[]): Promise<void> => {
      const alerts = open.map((alert) => openOf(alert, deps));
      for (let at = 0; at < alerts.length; at += MOST_IN_A_POST) await send(alerts.slice(at, at + MOST_IN_A_POST));
    };
    const replaced = new Replaced();
    const ended = new Ended();
    const inTurn = oneAtATime();
    return {
      name,
      deliver: (alert) =>
        inTurn(async () => {
          const posted = postedOf(alert, deps);
          const isOver = alert.type === 'ALERT_RESOLVED';
          await send([posted, ...replaced.endedBy(alert.payload.alertId, posted, deps.now())]);
          replaced.sent(alert.payload.alertId, isOver ? null : posted);
          if (isOver) ended.add(alert.payload.alertId);
        }),
      updatesInPlace: false,
      acknowledge: null,
      run: (running) => repeating(name, () => inTurn(() => repeat(ended.without(running.openFor(name)))), running),
    };
  },
};

type Labelled = Pick<OpenAlert, 'alertKey' | 'route' | 'severity' | 'agentId' | 'taskId' | 'policyName'>;

/**
 * What identifies the alert. An alert about a task is the same whichever agent has the task, so the agent is an
 * annotation there. Empty labels are left out.
 */
const labelsOf = ({ alertKey, route, severity, agentId, taskId, policyName }: Labelled) => ({
  alertname: route,
  alert_key: alertKey,
  severity,
  ...(taskId !== null ? { task: taskId } : agentId !== null && { agent: agentId }),
  ...(policyName !== null && { policy: policyName }),
});

const annotationsOf = ({
  title,
  text,
  urgency,
  agentId,
  itemId,
}: Pick<OpenAlert, 'title' | 'text' | 'urgency' | 'agentId'> & Partial<Pick<OpenAlert, 'itemId'>>) => ({
  title: cut(plain(title), LONGEST_TEXT),
  text: cut(oneLine(text), LONGEST_TEXT),
  urgency,
  ...(itemId && { item: itemId }),
  ...(agentId !== null && { agent: agentId }),
});

type Posted = ReturnType<typeof postedOf>;

/**
 * The labels under which Alertmanager has each alert, by alert id. Another severity or policy is another alert there,
 * so the former one is ended. After a restart they are unknown, and a former one ends five minutes later.
 */
class Replaced {
  readonly #posted = new Map<string, Posted>();

  endedBy(alertId: string, { labels }: Posted, now: number): readonly Posted[] {
    const before = this.#posted.get(alertId);
    if (before === undefined || JSON.stringify(before.labels) === JSON.stringify(labels)) return [];
    return [{ ...before, endsAt: new Date(now).toISOString() }];
  }

  /** Null: the alert is over. */
  sent(alertId: string, posted: Posted | null): void {
    if (posted === null) this.#posted.delete(alertId);
    else this.#posted.set(alertId, posted);
  }
}

const postedOf = ({ type, payload, policy, occurredAt }: AlertEvent, { dashboardUrl, now }: SinkDeps) => ({
  labels: labelsOf({ ...payload, policyName: policy?.name ?? null }),
  annotations: annotationsOf(payload),
  startsAt: new Date(payload.raisedAt ?? occurredAt).toISOString(),
  endsAt: new Date(type === 'ALERT_RESOLVED' ? now() : now() + LIFE_MS).toISOString(),
  generatorURL: dashboardUrl,
});

const openOf = (alert: OpenAlert, { dashboardUrl, now }: SinkDeps) => ({
  labels: labelsOf(alert),
  annotations: annotationsOf(alert),
  startsAt: new Date(alert.raisedAt).toISOString(),
  endsAt: new Date(now() + LIFE_MS).toISOString(),
  generatorURL: dashboardUrl,
});

/**
 * The alerts whose end was posted. What is open is known from another reading of the log, which may be behind, and a
 * repetition after the end would open the alert again.
 */
class Ended {
  readonly #ids = new Set<string>();

  add(alertId: string): void {
    this.#ids.add(alertId);
  }

  /** Forgets those that are not open any more. */
  without(open: readonly OpenAlert[]): readonly OpenAlert[] {
    const ids = new Set(open.map(({ alertId }) => alertId));
    for (const id of this.#ids) if (!ids.has(id)) this.#ids.delete(id);
    return open.filter(({ alertId }) => !this.#ids.has(alertId));
  }
}

/** Runs one work after the other, in the order of the calls: the last word on an alert is then its end. */
const oneAtATime = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = before.then(work);
    before = result.catch(() => undefined);
    return result;
  };
};

/** A failed repetition is left to the next one: the alerts live longer than some of them. */
const repeating = async (
  name: string,
  repeat: () => Promise<void>,
  { logger, timeFlows }: Running,
): Promise<AsyncDisposable> => {
  let isBusy = false;
  const attempt = async (): Promise<void> => {
    if (isBusy || !timeFlows()) return;
    isBusy = true;
    try {
      await repeat();
    } catch (error) {
      logger.warn({ channel: name, why: (error as Error).message }, 'open alerts could not be repeated');
    } finally {
      isBusy = false;
    }
  };
  const timer = setInterval(() => void attempt(), REPEAT_MS);
  return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
};
