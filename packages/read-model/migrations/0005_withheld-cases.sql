-- Up Migration

-- The step of an open case that the governor withholds, and the reason.
ALTER TABLE cases ADD COLUMN withheld_order text COLLATE "C", ADD COLUMN withheld_step text, ADD COLUMN withheld_why text,
  ADD COLUMN withheld_detail text;
