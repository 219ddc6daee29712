-- Up Migration

-- A hold was the event of ingest, ordered by its offset. It is the event of the evaluator now, ordered by its version.
UPDATE agents SET hold_order = NULL WHERE hold_order IS NOT NULL;
