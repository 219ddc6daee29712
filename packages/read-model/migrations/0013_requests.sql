-- Up Migration

-- What agents ask people through the hooks of their clients, how each request ended, and the last answer that changed nothing.
CREATE TABLE requests (
  request_id text PRIMARY KEY,

  opened_order text COLLATE "C",
  agent_id text,
  instance_id text,
  task_id text,
  labels jsonb,
  client text,
  kind text,
  tool text,
  text text,
  choices jsonb,
  deadline_at timestamptz,
  at_deadline text,
  opened_at timestamptz,

  settled_order text COLLATE "C",
  settled text,
  settled_option text,
  settled_by text,
  settled_why text,
  settled_command text,
  settled_at timestamptz,

  refused_order text COLLATE "C",
  refused_option text,
  refused_by text,
  refused_reason text,
  refused_detail text,
  refused_command text,
  refused_at timestamptz
);
CREATE INDEX requests_open ON requests (deadline_at) WHERE settled_order IS NULL;
CREATE INDEX requests_agent ON requests (agent_id, opened_at);
