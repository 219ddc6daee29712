/** Files of the sources, in their authors' format. */

/** CODITECT's `ADR-110`, sections 2 and 7. */
export const ADR_110_YAML = `heartbeat:
  interval_seconds: 300 # 5 minutes
  timeout_seconds: 600 # 2x interval
  payload:
    agent_id: string
    task_id: string
    timestamp: datetime
    phase: string
    last_tool_call: datetime
    token_count: integer
    error_count: integer
    progress_indicator: string

progress_detection:
  checkpoint_comparison: true # Compare timestamps
  tool_call_analysis:
    repeated_identical: stuck # Same calls = stuck
    no_calls_threshold: 900 # 15+ min = stuck
    diverse_calls: healthy
  token_consumption:
    sudden_spike: potential_loop
    zero_consumption: stuck
    steady_rate: healthy

health_monitoring:
  enabled: true
  heartbeat:
    interval_seconds: 300 # 5 minutes
    timeout_seconds: 600 # 10 minutes
  health_check:
    interval_seconds: 60 # 1 minute
    checkpoint_stale_threshold_seconds: 1800 # 30 minutes
  intervention:
    nudge:
      enabled: true
      max_attempts: 3
      interval_seconds: 600 # 10 minutes between nudges
    escalation:
      timeout_seconds: 900 # 15 minutes
    termination:
      cleanup_timeout_seconds: 30
  circuit_breaker:
    default:
      failure_threshold: 3
      recovery_timeout_seconds: 60
      half_open_requests: 1
    overrides:
      tool_execution:
        failure_threshold: 5
        recovery_timeout_seconds: 30
      checkpoint_write:
        failure_threshold: 3
        recovery_timeout_seconds: 120
  recovery:
    max_attempts_per_task: 3
    max_attempts_per_hour: 5
    backoff_seconds: [60, 120, 240]
  alerting:
    stuck_agent:
      channels: ["slack", "pagerduty"]
      severity: "warning"
    circuit_breaker_open:
      channels: ["slack"]
      severity: "warning"
    recovery_failed:
      channels: ["slack", "pagerduty"]
      severity: "critical"
`;

/** botbox's configuration, in a project's file. */
export const BOTBOX_JSON = `{
  "version": "1.0.9",
  "project": { "name": "edict", "type": ["cli"], "channel": "edict" },
  "agents": {
    "health": {
      "enabled": true,
      "idle_timeout_minutes": 15,
      "completion_timeout_minutes": 10,
      "rate_limit_backoff_seconds": 60,
      "repeated_error_threshold": 5,
      "auto_kill_on_idle": true,
      "auto_kill_on_repeated_error": false,
      "alert_channel": "ops"
    }
  }
}
`;

/** gascity's five fields, with Go's regular expressions. */
export const GASCITY_TOML = `[workspace]
name = "bright-lights"

[daemon]
patrol_interval = "30s"
stuck_sweep = true
stuck_wisp_threshold = "1h30m"
stuck_error_patterns = ['(?i)api error: (?P<code>400|5\\d\\d)', 'tool_use concurrency\\z']
stuck_peek_lines = 80
stuck_warrant_label = "pool:hounds"

[[agent]]
name = "mayor"
`;

/** omniclaude's table, in its skill's page. */
export const OMNICLAUDE_MD = `# Agent Health-Check

| Heuristic | Trigger Condition | Default Threshold |
|-----------|------------------|-------------------|
| Inactivity | No tool calls for N minutes | 2 minutes |

## Policy Switches

| Switch | Default | Description |
|--------|---------|-------------|
| \`stall_timeout_minutes\` | \`2\` | Minutes of inactivity before stall detection |
| \`bash_long_timeout_buffer_seconds\` | \`60\` | Extra seconds added to stall threshold when Bash timeout >120s |
| \`context_threshold_pct\` | \`80\` | Context usage percentage for preemptive recovery |
| \`max_redispatches\` | \`2\` | Max redispatch attempts per task before escalating to Blocked |
| \`emit_healthcheck_events\` | \`true\` | Emit Kafka events on health status changes |
| \`dispatch_log_dir\` | \`.onex_state/dispatch-log/\` | Directory for NDJSON dispatch event logs |

---

## See Also

- \`epic-team\` skill (primary consumer of health-check)
`;
