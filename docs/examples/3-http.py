"""An agent that reports its tool calls over HTTP. It needs VIGIL_GATEWAY_URL and VIGIL_GATEWAY_TOKEN, and no package."""

import hashlib
import json
import os
import time
import urllib.error
import urllib.request
import uuid

INSTANCE = str(uuid.uuid4())  # another one for each start: a heartbeat of an earlier start cannot be taken for this one
calls = []
sequence = 0


def hashed(value):
    """Vigil compares calls by hash: arguments and results stay here."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def send(progress, **more):
    """Sends one heartbeat with the calls since the last one."""
    global sequence
    sequence += 1
    heartbeat = {
        "agent_id": "example-3",
        "task_id": "EX-3",
        "instance_id": INSTANCE,
        "sequence": sequence,
        "timestamp": int(time.time() * 1000),
        "phase": "build",
        "last_tool_call": calls[-1]["ended_at"] if calls else None,  # a time, not a name
        "token_count": None,  # unknown; 0 means that no token was used
        "error_count": 0,
        "progress_indicator": progress,
        "tool_calls": calls,
        "policy": "vigil",
        **more,
    }
    request = urllib.request.Request(
        os.environ["VIGIL_GATEWAY_URL"] + "/v1/heartbeats",
        json.dumps(heartbeat).encode(),
        {"authorization": "Bearer " + os.environ["VIGIL_GATEWAY_TOKEN"], "content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"the gateway refused the heartbeat: {error.read().decode()}")
    for warning in answer["warnings"]:
        print("warning:", warning)
    calls.clear()


def call(tool, arguments, function):
    """Runs a tool and remembers what Vigil needs to know of the call."""
    started = int(time.time() * 1000)
    result = function(arguments)
    calls.append(
        {
            "call_id": str(uuid.uuid4()),
            "tool": tool,
            "args_hash": hashed(arguments),
            "result_hash": hashed(result),
            "started_at": started,
            "ended_at": int(time.time() * 1000),
            "outcome": "ok",
            "mutating": False,
        }
    )
    return result


for step in range(1, 4):
    call("square", step, lambda number: number * number)
    send(f"{step} of 3")
    time.sleep(1)
send("3 of 3", exit={"reason": "finished", "code": 0})
print("finished")
