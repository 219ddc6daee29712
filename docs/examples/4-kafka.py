"""An agent that reports itself over Kafka, as plain JSON. It needs confluent-kafka and KAFKA_BROKERS."""

import json
import os
import time

from confluent_kafka import Producer

TOPIC = "onex.cmd.heartbeat-ingest.heartbeat.v1"
AGENT = "example-4"

# Kafka's own clients place a key by murmur2; librdkafka needs this setting for it.
producer = Producer({"bootstrap.servers": os.environ["KAFKA_BROKERS"], "partitioner": "murmur2_random"})


def failed(error, _message):
    if error is not None:
        raise SystemExit(f"the heartbeat was not written: {error}")


def send(progress, **more):
    heartbeat = {
        "agent_id": AGENT,
        "task_id": "EX-4",
        "timestamp": int(time.time() * 1000),
        "phase": "build",
        "last_tool_call": None,
        "token_count": None,
        "error_count": 0,
        "progress_indicator": progress,
        "policy": "vigil",
        **more,
    }
    producer.produce(TOPIC, json.dumps(heartbeat), key=AGENT, on_delivery=failed)
    producer.poll(0)


for step in range(1, 4):
    send(f"{step} of 3")
    time.sleep(1)
send("3 of 3", exit={"reason": "finished", "code": 0})
if producer.flush(30) > 0:
    raise SystemExit("Kafka did not acknowledge every heartbeat within 30 s")
print("finished")
