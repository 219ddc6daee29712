-- Up Migration

-- Up to which time of the log the rows are complete, for each partition of the evaluator's topic; epoch milliseconds.
CREATE TABLE projected (
  partition integer PRIMARY KEY,
  up_to bigint NOT NULL
);
