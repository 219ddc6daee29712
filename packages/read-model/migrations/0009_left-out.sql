-- Up Migration

-- The number of bad records that a minute left out, where this is the dead letter of all of them.
ALTER TABLE dead_letters ADD COLUMN left_out bigint NOT NULL DEFAULT 0;
