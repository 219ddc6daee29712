#!/bin/sh
# An agent that reports itself with curl. It needs VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN.
set -eu

heartbeat() { # PROGRESS [MORE FIELDS]
  curl --fail-with-body --silent --show-error "$VIGIL_GATEWAY_URL/v1/heartbeats" \
    -H "authorization: Bearer $VIGIL_GATEWAY_TOKEN" -H 'content-type: application/json' --data @- <<JSON
{
  "agent_id": "example-2", "task_id": "EX-2", "timestamp": "$(date -u +%FT%TZ)", "phase": "build",
  "last_tool_call": null, "token_count": null, "error_count": 0, "progress_indicator": "$1", "policy": "vigil"${2:-}
}
JSON
  echo
}

for step in 1 2 3; do
  heartbeat "$step of 3"
  sleep 1
done
# The last heartbeat ends the agent. Without it Vigil would miss the next one.
heartbeat "3 of 3" ', "exit": { "reason": "finished", "code": 0 }'
