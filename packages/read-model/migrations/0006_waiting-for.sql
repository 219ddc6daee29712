-- Up Migration

-- What an agent waits for a person for, as its last heartbeat reports it.
ALTER TABLE agents ADD COLUMN heartbeat_waiting_for jsonb;
