-- Up Migration

-- An agent's breakers under the agent, recovery's under the task.
CREATE TABLE breakers (
  holder text NOT NULL,
  name text NOT NULL,

  breaker_order text COLLATE "C",
  agent_id text,
  task_id text,
  state text,
  failures integer,
  next_attempt_at timestamptz,
  breaker_since timestamptz,

  PRIMARY KEY (holder, name)
);

-- gascity's tickets: whole, and the answer of triage or of an operator's caller; without an answer no review was requested.
CREATE TABLE tickets (
  ticket_id text PRIMARY KEY,

  filed_order text COLLATE "C",
  agent_id text,
  instance_id text,
  task_id text,
  episode_id text,
  labels jsonb,
  severity text,
  ticket jsonb,
  findings jsonb,
  filed_at timestamptz,

  answer_order text COLLATE "C",
  answer text,
  analysis text,
  alert_key text,
  answered_at timestamptz
);
CREATE INDEX tickets_agent ON tickets (agent_id, filed_at);
CREATE INDEX tickets_time ON tickets (filed_at);
