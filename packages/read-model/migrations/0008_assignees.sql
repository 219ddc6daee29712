-- Up Migration

-- One name for the agent that works on a task, and one for the owner of a breaker or a step.
ALTER TABLE task_holders RENAME TO task_assignees;
ALTER TABLE task_assignees RENAME COLUMN holder_order TO assignee_order;
ALTER TABLE task_assignees RENAME COLUMN holder_at TO assignee_at;
ALTER TABLE breakers RENAME COLUMN holder TO owner;
ALTER VIEW case_steps RENAME COLUMN said_by TO emitted_by;
