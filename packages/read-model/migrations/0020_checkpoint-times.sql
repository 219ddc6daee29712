-- Up Migration

-- When a checkpoint was written, as its first report says; later reports of the same id and time change nothing.
-- created_at: the agent's own time; the epoch where it reports none.
CREATE TABLE checkpoint_reports (
  task_id text NOT NULL,
  checkpoint_id text NOT NULL,
  created_at timestamptz NOT NULL,
  written_at timestamptz NOT NULL,
  PRIMARY KEY (task_id, checkpoint_id, created_at)
);

CREATE VIEW dated_checkpoints AS
SELECT c.*, coalesce(r.written_at, least(c.created_at, c.recorded_at)) AS written_at
FROM checkpoints c
LEFT JOIN checkpoint_reports r ON r.task_id = c.task_id AND r.checkpoint_id = c.checkpoint_id
  AND r.created_at = coalesce(c.created_at, 'epoch'::timestamptz);
