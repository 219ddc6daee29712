-- Up Migration

-- The coding agent's client whose session the agent is, as its last heartbeat reports it.
ALTER TABLE agents ADD COLUMN heartbeat_client text;
