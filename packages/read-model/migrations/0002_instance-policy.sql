-- Up Migration

-- An agent that was never judged other than HEALTHY has a policy too: its life's.
ALTER TABLE agents ADD COLUMN instance_policy_name text, ADD COLUMN instance_policy_hash text;
