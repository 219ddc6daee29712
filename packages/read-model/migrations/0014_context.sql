-- Up Migration

-- How much of its context an agent has used, as its last heartbeat reports it.
ALTER TABLE agents ADD COLUMN heartbeat_context_used bigint, ADD COLUMN heartbeat_context_max bigint;
