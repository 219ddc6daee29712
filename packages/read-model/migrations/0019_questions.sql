-- Up Migration

-- The questions of a request, and the answer to each. The summary of the answers is in settled_option.
ALTER TABLE requests ADD COLUMN opened_questions jsonb;
ALTER TABLE requests ADD COLUMN settled_answers jsonb;
