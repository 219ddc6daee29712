-- Up Migration

-- The calls of agents, in a partition for the day in UTC on which a heartbeat reported them. A call that is reported on two days has a row of each.
CREATE TABLE calls (
  agent_id text NOT NULL,
  instance_id text NOT NULL,
  call_id text NOT NULL,
  day_at timestamptz NOT NULL,
  PRIMARY KEY (agent_id, day_at, instance_id, call_id),

  call_order text COLLATE "C",
  task_id text,
  kind text,
  tool text,
  outcome text,
  error_class text,
  started_at timestamptz,
  ended_at timestamptz,

  begun_order text COLLATE "C",
  begun_at timestamptz
) PARTITION BY RANGE (day_at);

-- The moments at which the context of an agent became much smaller.
CREATE TABLE compactions (
  event_id text NOT NULL,
  occurred_at timestamptz NOT NULL,
  PRIMARY KEY (event_id, occurred_at),
  agent_id text NOT NULL,
  instance_id text,
  task_id text,
  used_before bigint NOT NULL,
  used_after bigint NOT NULL,
  context_max bigint NOT NULL
) PARTITION BY RANGE (occurred_at);
CREATE INDEX compactions_agent ON compactions (agent_id, occurred_at);
