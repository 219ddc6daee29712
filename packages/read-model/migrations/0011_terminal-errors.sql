-- Up Migration

-- The lines on the terminal that match the error patterns of the agent's policy or template, of one instance.
ALTER TABLE agents ADD COLUMN terminal_order text COLLATE "C", ADD COLUMN terminal_instance_id text, ADD COLUMN terminal_errors jsonb;
