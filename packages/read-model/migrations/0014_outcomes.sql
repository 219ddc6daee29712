-- Up Migration

-- What a command has caused directly: the events from which its outcome is read.
CREATE TABLE outcomes (
  command_id text NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  agent_id text,
  task_id text,
  case_id text,
  occurred_at timestamptz NOT NULL,
  event_order text NOT NULL,
  payload jsonb NOT NULL,
  PRIMARY KEY (command_id, event_id)
);
