-- Up Migration

-- The origin of a policy, the reason for its application, and whether it was removed.
ALTER TABLE policies ADD COLUMN origin text, ADD COLUMN why text, ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

CREATE TABLE policy_refusals (
  refusal_id text NOT NULL,
  command_id text,
  name text NOT NULL,
  hash text,
  refused_by text NOT NULL,
  why text NOT NULL,
  mistakes jsonb NOT NULL,
  refused_at timestamptz NOT NULL,
  PRIMARY KEY (refusal_id, refused_at)
);
CREATE INDEX policy_refusals_name ON policy_refusals (name, refused_at);
