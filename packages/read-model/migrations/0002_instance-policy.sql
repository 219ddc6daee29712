-- Up Migration

-- An agent that was always HEALTHY has a policy too: that of its instance.
ALTER TABLE agents ADD COLUMN instance_policy_name text, ADD COLUMN instance_policy_hash text;
