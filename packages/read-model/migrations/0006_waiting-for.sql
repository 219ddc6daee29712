-- Up Migration

-- The wait of an agent for a person, as its last heartbeat reports it.
ALTER TABLE agents ADD COLUMN heartbeat_waiting_for jsonb;
