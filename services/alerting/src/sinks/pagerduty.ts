import { KIND_SETTINGS, SECRETS } from '@vigil/policy/channels';
import {
  cut,
  type Decision,
  decisionOf,
  labelOf,
  oneLine,
  pageHint,
  plain,
  whatOf,
  withItem,
} from '../delivery/message.ts';
import { type AlertEvent, isCount, isQuiet, type Kind, type SinkDeps } from '../delivery/sink.ts';
import { GONE, post, type Remedies } from './http.ts';
import { secretOf } from './secret.ts';

const REMEDIES: Remedies = { ...GONE, 400: 'see whether its routing key is the integration key of an Events API v2' };
const LONGEST_SUMMARY = 1024;
/** An event may have 512 KB. */
const LONGEST_DETAIL = 20_000;

/**
 * Events API v2. All events of an alert have its id as `dedup_key`, so a repetition joins the incident that is open. A
 * pardon acknowledges it, so that it escalates no further; its end resolves it.
 */
export const pagerduty: Kind<'pagerduty'> = {
  settings: KIND_SETTINGS.pagerduty,
  open: (name, channel, deps) => {
    const { url, timeout } = channel;
    const routing_key = secretOf(name, 'routing_key', SECRETS.pagerduty.routing_key, channel, deps);
    const address = `${url.replace(/\/$/, '')}/v2/enqueue`;
    const enqueue = (event: object) =>
      post(
        { url: address, headers: {}, body: JSON.stringify({ routing_key, ...event }), timeout, remedies: REMEDIES },
        deps,
      );
    const trigger = async (alert: AlertEvent) =>
      enqueue({ event_action: 'trigger', dedup_key: alert.payload.alertId, ...(await incidentOf(alert, name, deps)) });
    const acknowledge = (dedup_key: string) => enqueue({ event_action: 'acknowledge', dedup_key });
    return {
      name,
      deliver: async (alert) => {
        const { alertId } = alert.payload;
        if (whatOf(alert) === 'resolved') {
          await enqueue({ event_action: 'resolve', dedup_key: alertId });
          return;
        }
        // A trigger for each count would page people again where they have resolved the incident in PagerDuty.
        if (isCount(alert)) return;
        const isAnswered = isPardoned(alert);
        // A trigger after the pardon would page people again where they have resolved the incident in PagerDuty.
        if (!isAnswered || !isQuiet(alert)) await trigger(alert);
        if (isAnswered) await acknowledge(alertId);
      },
      updatesInPlace: true,
      acknowledge: async ({ payload }) => {
        await acknowledge(payload.alertId);
      },
      run: null,
    };
  },
};

/** The alert stays open, and waits for no person. */
const isPardoned = ({ payload }: AlertEvent): boolean => 'isPardoned' in payload && payload.isPardoned;

const incidentOf = async (alert: AlertEvent, name: string, deps: SinkDeps) => {
  const { title, text, route, urgency, agentId, taskId, labels, caseId, raisedAt } = alert.payload;
  const decision = await decisionOf(alert, name, deps);
  const links = decision === null ? [] : linksOf(decision);
  return {
    client: 'Vigil',
    client_url: deps.dashboardUrl,
    links,
    payload: {
      summary: cut(plain(title), LONGEST_SUMMARY),
      source: agentId ?? taskId ?? 'fleet',
      severity: severityOf(alert),
      timestamp: new Date(raisedAt ?? alert.occurredAt).toISOString(),
      component: agentId ?? 'fleet',
      group: taskId ?? 'fleet',
      class: route,
      custom_details: {
        text: withItem(oneLine(text), alert.payload, LONGEST_DETAIL),
        urgency,
        item: 'itemId' in alert.payload ? alert.payload.itemId : null,
        case_id: caseId,
        labels,
        deadline: decision?.deadline ?? null,
        on_timeout: decision?.on_timeout ?? null,
      },
    },
  };
};

/** Of each choice, or to the page. */
const linksOf = (decision: Decision) => {
  const hint = pageHint(decision);
  if (hint !== null) return [{ href: decision.page, text: hint.link }];
  return Object.entries(decision.links ?? {}).map(([choice, href]) => ({ href, text: labelOf(choice, decision) }));
};

const severityOf = ({ payload: { severity } }: AlertEvent): 'critical' | 'warning' | 'info' =>
  severity === 'UNKNOWN' ? 'warning' : severity;
