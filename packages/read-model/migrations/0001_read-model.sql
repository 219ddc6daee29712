-- Up Migration

-- Two kinds of tables. Facts: a row an event, inserted once. Registers: a row a thing, made of column groups; a group is written
-- whole by one service's events, and only by one with a greater <group>_order than the one it holds. Both give the same rows from
-- the same events, whatever their order and however often each is read. No serials, no now(): all times are the log's.

CREATE TABLE cluster (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  cluster_id text NOT NULL
);

CREATE TABLE positions (
  topic text NOT NULL,
  partition integer NOT NULL,
  next_offset bigint NOT NULL,
  PRIMARY KEY (topic, partition)
);

-- Facts -------------------------------------------------------------------------------------------------------------------------

CREATE TABLE journal (
  event_id text PRIMARY KEY,
  topic text NOT NULL,
  type text NOT NULL,
  agent_id text,
  instance_id text,
  task_id text,
  episode_id text,
  case_id text,
  occurred_at timestamptz NOT NULL,
  event_order text COLLATE "C" NOT NULL,
  correlation_id text,
  policy_name text,
  policy_hash text,
  payload jsonb NOT NULL
);
CREATE INDEX journal_time ON journal (occurred_at);
CREATE INDEX journal_agent ON journal (agent_id, occurred_at);
CREATE INDEX journal_case ON journal (case_id) WHERE case_id IS NOT NULL;
CREATE INDEX journal_task ON journal (task_id, type, event_order) WHERE task_id IS NOT NULL;
CREATE INDEX journal_type ON journal (type, occurred_at);

CREATE TABLE orders (
  order_id text PRIMARY KEY,
  kind text NOT NULL,
  agent_id text NOT NULL,
  instance_id text,
  runtime_id text NOT NULL,
  case_id text,
  task_id text,
  number bigint NOT NULL,
  ttl_ms bigint NOT NULL,
  issued_at timestamptz NOT NULL,
  details jsonb NOT NULL
);
CREATE INDEX orders_agent ON orders (agent_id, issued_at);
CREATE INDEX orders_case ON orders (case_id) WHERE case_id IS NOT NULL;
CREATE INDEX orders_task ON orders (task_id) WHERE task_id IS NOT NULL;

CREATE TABLE deliveries (
  event_id text PRIMARY KEY,
  alert_id text NOT NULL,
  of_event_id text NOT NULL,
  sink text NOT NULL,
  attempt integer NOT NULL,
  ok boolean NOT NULL,
  detail text,
  occurred_at timestamptz NOT NULL
);
CREATE INDEX deliveries_alert ON deliveries (alert_id);

CREATE TABLE policies (
  name text NOT NULL,
  hash text NOT NULL,
  document text NOT NULL,
  published_by text NOT NULL,
  published_at timestamptz NOT NULL,
  PRIMARY KEY (name, hash, published_at)
);

CREATE TABLE dead_letters (
  event_id text PRIMARY KEY,
  service text NOT NULL,
  original_topic text NOT NULL,
  original_partition integer NOT NULL,
  original_offset bigint NOT NULL,
  original_key text,
  original_value bytea,
  truncated boolean NOT NULL,
  original_at timestamptz,
  reason text NOT NULL,
  error_type text NOT NULL,
  failed_at timestamptz,
  retry_count integer NOT NULL,
  correlation_id text
);
CREATE INDEX dead_letters_time ON dead_letters (failed_at);

-- Registers ---------------------------------------------------------------------------------------------------------------------

CREATE TABLE agents (
  agent_id text PRIMARY KEY,

  state_order text COLLATE "C",
  state text,
  state_from text,
  state_since timestamptz,
  state_reason text,
  state_onset_at timestamptz,
  state_evidence jsonb,
  state_instance_id text,
  state_task_id text,
  state_runtime_id text,
  state_labels jsonb,
  state_attempt integer,
  state_max_attempts integer,
  episode_id text,
  end_reason text,
  policy_name text,
  policy_hash text,

  exemption_order text COLLATE "C",
  exemption text,
  exemption_suspends jsonb,
  exemption_until timestamptz,
  exemption_since timestamptz,

  instance_order text COLLATE "C",
  instance_id text,
  instance_previous_id text,
  instance_since timestamptz,
  instance_task_id text,
  instance_runtime_id text,

  presence_order text COLLATE "C",
  present boolean,
  presence_why text,
  presence_since timestamptz,
  host text,
  model text,

  warrant_order text COLLATE "C",
  warrant_id text,
  warrant_open boolean,
  warrant_at timestamptz,
  warrant_plan text,
  warrant_axes jsonb,
  warrant_lapsed_why text,

  heartbeat_order text COLLATE "C",
  heartbeat_at timestamptz,
  heartbeat_instance_id text,
  heartbeat_task_id text,
  heartbeat_runtime_id text,
  heartbeat_labels jsonb,
  heartbeat_phase text,
  heartbeat_progress text,
  heartbeat_activity text,
  heartbeat_tokens bigint,
  heartbeat_errors bigint,
  heartbeat_ingress text,
  heartbeat_interval_ms bigint,

  output_order text COLLATE "C",
  output_last_at timestamptz,
  output_tail jsonb,

  errors_order text COLLATE "C",
  errors_instance_id text,
  errors jsonb,

  exit_order text COLLATE "C",
  exit_at timestamptz,
  exit_instance_id text,
  exit_code integer,
  exit_signal text,
  exit_reason text,
  exit_details text,
  exit_last_output jsonb,

  hold_order text COLLATE "C",
  held boolean,
  held_until timestamptz,
  held_by text,
  held_why text,

  duplicate_order text COLLATE "C",
  duplicate_instance_id text,
  duplicate_other_id text,
  duplicate_count integer,
  duplicate_at timestamptz
);

CREATE TABLE cases (
  case_id text PRIMARY KEY,

  opened_order text COLLATE "C",
  agent_id text,
  instance_id text,
  task_id text,
  episode_id text,
  labels jsonb,
  warrant_id text,
  requested_by text,
  state text,
  axes jsonb,
  plan_name text,
  plan jsonb,
  runtime_id text,
  evidence jsonb,
  note text,
  opened_at timestamptz,
  policy_name text,
  policy_hash text,

  step_order text COLLATE "C",
  step text,
  step_at timestamptz,

  escalation_order text COLLATE "C",
  escalation_at timestamptz,
  escalation_reason text,
  escalation_options jsonb,
  escalation_deadline_at timestamptz,
  escalation_on_timeout text,

  decision_order text COLLATE "C",
  decision text,
  decision_by text,
  decision_why text,
  decision_at timestamptz,

  closed_order text COLLATE "C",
  closed_at timestamptz,
  ending text,
  closed_why text
);
CREATE INDEX cases_agent ON cases (agent_id, opened_at);
CREATE INDEX cases_open ON cases (opened_at) WHERE closed_at IS NULL;

CREATE TABLE task_holders (
  task_id text NOT NULL,
  agent_id text NOT NULL,
  PRIMARY KEY (task_id, agent_id),

  holder_order text COLLATE "C",
  instance_id text,
  attempt integer,
  hold text,
  state text,
  end_reason text,
  ordered boolean,
  runtime_id text,
  holder_at timestamptz
);

CREATE TABLE tasks (
  task_id text PRIMARY KEY,

  recovery_order text COLLATE "C",
  recovery text,
  recovery_at timestamptz,
  recovery_attempt integer,
  recovery_agent_id text,
  recovery_reason text
);

CREATE TABLE checkpoints (
  task_id text NOT NULL,
  checkpoint_id text NOT NULL,
  PRIMARY KEY (task_id, checkpoint_id),

  checkpoint_order text COLLATE "C",
  agent_id text,
  instance_id text,
  attempt integer,
  parent_id text,
  uri text,
  sha256 text,
  valid boolean,
  invalid_reason text,
  created_at timestamptz,
  recorded_at timestamptz,
  completed_work jsonb,
  remaining_work jsonb
);

CREATE TABLE receipts (
  order_id text NOT NULL,
  outcome text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (order_id, outcome, at),

  receipt_order text COLLATE "C",
  runtime_id text,
  why text,
  recorded_at timestamptz,
  details jsonb
);

CREATE TABLE runtimes (
  runtime_id text PRIMARY KEY,
  runtime_order text COLLATE "C",
  host text,
  capacity integer,
  agents jsonb,
  labels jsonb,
  announced_at timestamptz
);

CREATE TABLE alerts (
  alert_id text PRIMARY KEY,

  content_order text COLLATE "C",
  alert_key text,
  route text,
  severity text,
  title text,
  text text,
  agent_id text,
  task_id text,
  episode_id text,
  case_id text,
  labels jsonb,
  options jsonb,
  deadline_at timestamptz,
  updated_at timestamptz,

  raised_order text COLLATE "C",
  raised_at timestamptz,

  ack_order text COLLATE "C",
  acknowledged_at timestamptz,
  acknowledged_by text,

  resolved_order text COLLATE "C",
  resolved_at timestamptz
);
CREATE INDEX alerts_time ON alerts (raised_at);

CREATE TABLE fleet (
  fleet_id text PRIMARY KEY,

  halt_order text COLLATE "C",
  halted boolean,
  halt_by text,
  halt_why text,
  halt_at timestamptz,

  brake_order text COLLATE "C",
  braked boolean,
  brake_scope text,
  brake_agents jsonb,
  brake_by text,
  brake_why text,
  brake_at timestamptz,

  dry_run_order text COLLATE "C",
  dry_run boolean,
  dry_run_by text,
  dry_run_why text,
  dry_run_at timestamptz
);

-- Readings of the journal -------------------------------------------------------------------------------------------------------

CREATE VIEW transitions AS
SELECT event_id, agent_id, instance_id, task_id, episode_id, occurred_at, event_order,
       payload ->> 'from' AS state_from, payload ->> 'to' AS state_to, payload ->> 'reason' AS reason,
       payload ->> 'exemption' AS exemption, payload ->> 'endReason' AS end_reason,
       to_timestamp((payload ->> 'onsetAt')::double precision / 1000) AS onset_at,
       payload -> 'evidence' AS evidence, policy_name, policy_hash
FROM journal WHERE type = 'HEALTH_STATE_CHANGED';

CREATE VIEW exemptions AS
SELECT event_id, agent_id, instance_id, task_id, occurred_at, event_order,
       payload ->> 'from' AS exemption_from, payload ->> 'to' AS exemption_to, payload -> 'suspends' AS suspends
FROM journal WHERE type = 'EXEMPTION_CHANGED';

CREATE VIEW episodes AS
SELECT episode_id, min(agent_id) AS agent_id, min(instance_id) AS instance_id, min(task_id) AS task_id,
       min(occurred_at) AS opened_at,
       max(occurred_at) FILTER (WHERE state_to IN ('HEALTHY', 'TERMINATED')) AS closed_at,
       (array_agg(state_to ORDER BY event_order DESC))[1] AS state,
       bool_or(state_to = 'FAILING') AS failed
FROM transitions WHERE episode_id IS NOT NULL GROUP BY episode_id;

CREATE VIEW case_steps AS
SELECT event_id, case_id, agent_id, type, occurred_at, event_order, payload,
       CASE topic WHEN 'onex.evt.intervention.step-ruling.v1' THEN 'governor' WHEN 'onex.evt.alerting.alert.v1' THEN 'alerting'
            ELSE 'case' END AS said_by
FROM journal WHERE case_id IS NOT NULL;

-- One row an attempt: from its RECOVERY_INITIATED to the next one of the same task.
CREATE VIEW recoveries AS
SELECT i.event_id, i.task_id, i.occurred_at AS initiated_at, i.event_order,
       (i.payload ->> 'attempt')::integer AS attempt, (i.payload ->> 'of')::integer AS max_attempts,
       i.payload ->> 'fromCheckpoint' AS from_checkpoint, i.payload ->> 'newAgentId' AS new_agent_id,
       i.payload ->> 'deadAgentId' AS dead_agent_id, i.payload ->> 'orderId' AS order_id,
       i.payload ->> 'runtimeId' AS runtime_id, i.payload -> 'skipped' AS skipped,
       s.completed_at, s.probation_passed_at, s.failed_at, s.failed_reason, s.review_at, s.released_at, s.released_why
FROM journal i
LEFT JOIN LATERAL (
  SELECT min(n.event_order) AS event_order FROM journal n
  WHERE n.task_id = i.task_id AND n.type = 'RECOVERY_INITIATED' AND n.event_order > i.event_order
) next ON true
LEFT JOIN LATERAL (
  SELECT min(e.occurred_at) FILTER (WHERE e.type = 'RECOVERY_COMPLETED') AS completed_at,
         min(e.occurred_at) FILTER (WHERE e.type = 'PROBATION_PASSED') AS probation_passed_at,
         min(e.occurred_at) FILTER (WHERE e.type = 'RECOVERY_FAILED') AS failed_at,
         min(e.payload ->> 'reason') FILTER (WHERE e.type = 'RECOVERY_FAILED') AS failed_reason,
         min(e.occurred_at) FILTER (WHERE e.type = 'REVIEW_REQUIRED') AS review_at,
         min(e.occurred_at) FILTER (WHERE e.type = 'TASK_RELEASED') AS released_at,
         min(e.payload ->> 'why') FILTER (WHERE e.type = 'TASK_RELEASED') AS released_why
  FROM journal e
  WHERE e.task_id = i.task_id AND e.topic = i.topic AND e.event_order > i.event_order
    AND (next.event_order IS NULL OR e.event_order < next.event_order)
) s ON true
WHERE i.type = 'RECOVERY_INITIATED';
