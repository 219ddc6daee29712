-- Up Migration

-- The history of agents and samples of their heartbeats are kept for 30 days, in a partition for each day in UTC. The projector makes and drops the
-- partitions. The journal keeps cases, steps, decisions and recoveries for ever.

CREATE TABLE history_days (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  first_day text NOT NULL
);

CREATE TABLE history (
  event_id text NOT NULL,
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
  payload jsonb NOT NULL,
  PRIMARY KEY (event_id, occurred_at)
) PARTITION BY RANGE (occurred_at);
CREATE INDEX history_agent ON history (agent_id, occurred_at);
CREATE INDEX history_task ON history (task_id, occurred_at) WHERE task_id IS NOT NULL;
CREATE INDEX history_type ON history (type, occurred_at);

-- The newest heartbeat of each hour.
CREATE TABLE heartbeat_hours (
  agent_id text NOT NULL,
  hour_at timestamptz NOT NULL,
  PRIMARY KEY (agent_id, hour_at),
  sample_order text COLLATE "C",
  sampled_at timestamptz,
  instance_id text,
  task_id text,
  phase text,
  activity text,
  tokens bigint,
  errors bigint,
  context_used bigint,
  context_max bigint
) PARTITION BY RANGE (hour_at);

-- The newest heartbeat of each minute in which the agent was not HEALTHY.
CREATE TABLE heartbeat_minutes (
  agent_id text NOT NULL,
  minute_at timestamptz NOT NULL,
  PRIMARY KEY (agent_id, minute_at),
  sample_order text COLLATE "C",
  sampled_at timestamptz,
  instance_id text,
  task_id text,
  phase text,
  activity text,
  tokens bigint,
  errors bigint,
  context_used bigint,
  context_max bigint
) PARTITION BY RANGE (minute_at);
CREATE INDEX heartbeat_minutes_time ON heartbeat_minutes (minute_at);

DROP VIEW episodes;
DROP VIEW exemptions;
DROP VIEW transitions;

-- What the journal has of the history moves, as far back as it is kept.
INSERT INTO history_days (first_day)
SELECT to_char((up_to_at - interval '30 days') AT TIME ZONE 'UTC', 'YYYY-MM-DD')
FROM (SELECT max(occurred_at) AS up_to_at FROM journal) newest WHERE up_to_at IS NOT NULL;

DO $$
DECLARE
  day date;
BEGIN
  FOR day IN
    SELECT DISTINCT (occurred_at AT TIME ZONE 'UTC')::date FROM journal, history_days
    WHERE (topic IN ('onex.evt.health-evaluator.agent-health.v1', 'onex.evt.health-evaluator.fleet-presence.v1') OR type = 'AGENT_EXITED')
      AND to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') >= first_day
  LOOP
    EXECUTE format('CREATE TABLE %I PARTITION OF history FOR VALUES FROM (%L) TO (%L)',
                   'history_' || to_char(day, 'YYYYMMDD'), to_char(day, 'YYYY-MM-DD') || 'T00:00:00Z', to_char(day + 1, 'YYYY-MM-DD') || 'T00:00:00Z');
  END LOOP;
END $$;

INSERT INTO history
SELECT journal.* FROM journal, history_days
WHERE (topic IN ('onex.evt.health-evaluator.agent-health.v1', 'onex.evt.health-evaluator.fleet-presence.v1') OR type = 'AGENT_EXITED')
  AND to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') >= first_day;

DELETE FROM journal
WHERE (topic IN ('onex.evt.health-evaluator.agent-health.v1', 'onex.evt.health-evaluator.fleet-presence.v1') OR type = 'AGENT_EXITED');

CREATE VIEW story AS SELECT * FROM journal UNION ALL SELECT * FROM history;

CREATE VIEW transitions AS
SELECT event_id, agent_id, instance_id, task_id, episode_id, occurred_at, event_order,
       payload ->> 'from' AS state_from, payload ->> 'to' AS state_to, payload ->> 'reason' AS reason,
       payload ->> 'exemption' AS exemption, payload ->> 'endReason' AS end_reason,
       to_timestamp((payload ->> 'onsetAt')::double precision / 1000) AS onset_at,
       payload -> 'evidence' AS evidence, policy_name, policy_hash
FROM history WHERE type = 'HEALTH_STATE_CHANGED';

CREATE VIEW exemptions AS
SELECT event_id, agent_id, instance_id, task_id, occurred_at, event_order,
       payload ->> 'from' AS exemption_from, payload ->> 'to' AS exemption_to, payload -> 'suspends' AS suspends
FROM history WHERE type = 'EXEMPTION_CHANGED';

CREATE VIEW episodes AS
SELECT episode_id, min(agent_id) AS agent_id, min(instance_id) AS instance_id, min(task_id) AS task_id,
       min(occurred_at) AS opened_at,
       max(occurred_at) FILTER (WHERE state_to IN ('HEALTHY', 'TERMINATED')) AS closed_at,
       (array_agg(state_to ORDER BY event_order DESC))[1] AS state,
       bool_or(state_to = 'FAILING') AS failed
FROM transitions WHERE episode_id IS NOT NULL GROUP BY episode_id;
