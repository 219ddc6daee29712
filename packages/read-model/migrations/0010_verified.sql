-- Up Migration

-- The principal whose token the gateway verified, such as "runtime host-1"; null: sent directly to Kafka.
ALTER TABLE agents ADD COLUMN heartbeat_verified text;
