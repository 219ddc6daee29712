import { alerting } from '@vigil/alerting';
import { probeSettings, readConfig, runServices } from '@vigil/chassis';
import { dashboard } from '@vigil/dashboard';
import { gateway } from '@vigil/gateway';
import { healthEvaluator } from '@vigil/health-evaluator';
import { heartbeatIngest } from '@vigil/heartbeat-ingest';
import { intervention } from '@vigil/intervention';
import { projector } from '@vigil/projector';
import { recovery } from '@vigil/recovery';
import { z } from 'zod';

/** The ingress of the agents opens last, and closes first. */
const SERVICES = [heartbeatIngest, healthEvaluator, intervention, recovery, alerting, projector, dashboard, gateway];

const { env } = process;
const ports = new Map(
  readConfig(z.object(probeSettings), env).VIGIL_PROBES.map(([name, url]) => [name, new URL(url).port]),
);
const withProbes = (service: (typeof SERVICES)[number]) => ({
  service,
  env: { ...env, VIGIL_PROBE_PORT: ports.get(service.name) },
});

await runServices('vigil', SERVICES.map(withProbes));
