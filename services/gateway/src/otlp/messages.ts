import type { Signal } from '@vigil/adapters/otlp';
import protobuf from 'protobufjs';

/**
 * The parts of OpenTelemetry's protocol that are read: https://github.com/open-telemetry/opentelemetry-proto, v1. A field that is not
 * named here is skipped.
 */
const DEFINITIONS = `
syntax = "proto3";
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
  }
}
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }

message LogRecord {
  fixed64 time_unix_nano = 1; AnyValue body = 5; repeated KeyValue attributes = 6;
  fixed64 observed_time_unix_nano = 11; string event_name = 12;
}
message ScopeLogs { repeated LogRecord log_records = 2; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message Logs { repeated ResourceLogs resource_logs = 1; }

message NumberDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; repeated KeyValue attributes = 7;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
}
message HistogramDataPoint {
  fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; optional double sum = 5; repeated KeyValue attributes = 9;
}
message ExponentialHistogramDataPoint {
  repeated KeyValue attributes = 1; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3; optional double sum = 5;
}
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message ExponentialHistogram { repeated ExponentialHistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message Metric {
  string name = 1;
  oneof data { Sum sum = 7; Histogram histogram = 9; ExponentialHistogram exponential_histogram = 10; }
}
message Scope { string name = 1; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }

message Status { int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; Status status = 15;
}
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
`;

const { root } = protobuf.parse(DEFINITIONS);
const TYPES: Readonly<Record<Signal, protobuf.Type>> = {
  logs: root.lookupType('Logs'),
  metrics: root.lookupType('Metrics'),
  traces: root.lookupType('Traces'),
};

/**
 * An export request in protobuf, as the same request in JSON is: fields in camel case, 64-bit numbers as texts.
 * @throws Error where the bytes are not such a message
 */
export const decodeExport = (signal: Signal, body: Uint8Array): unknown =>
  TYPES[signal].toObject(TYPES[signal].decode(body), { longs: String, bytes: String });
