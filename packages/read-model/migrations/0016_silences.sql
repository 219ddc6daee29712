-- Up Migration

-- How much an alert is in a hurry, beside its severity.
ALTER TABLE alerts ADD COLUMN content_urgency text;

-- What people have silenced, and until when.
CREATE TABLE silences (
  silence_id text PRIMARY KEY,

  silence_order text COLLATE "C",
  matchers jsonb,
  until timestamptz,
  changed_by text,
  why text,
  changed_at timestamptz
);
CREATE INDEX silences_until ON silences (until);
