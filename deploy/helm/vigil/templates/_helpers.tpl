{{- define "vigil.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- define "vigil.labels" -}}
app.kubernetes.io/part-of: vigil
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The addresses and access of the servers, for every process. */}}
{{- define "vigil.servers" -}}
{{- if and .Values.kafka.sasl.mechanism (not .Values.kafka.tls.enabled) }}
{{- fail (printf "kafka.sasl.mechanism is %s and kafka.tls.enabled is false: a principal needs TLS, enable it" .Values.kafka.sasl.mechanism) }}
{{- end }}
KAFKA_BROKERS: {{ .Values.kafka.brokers | quote }}
SCHEMA_REGISTRY_URL: {{ .Values.registry.url | quote }}
VIGIL_PARTITIONS: {{ .Values.kafka.partitions | quote }}
{{- if .Values.kafka.tls.enabled }}
{{- if .Values.kafka.tls.caSecret }}
KAFKA_TLS_CA: /etc/vigil/kafka-ca/ca.crt
{{- else }}
KAFKA_TLS: "1"
{{- end }}
{{- end }}
{{- with .Values.kafka.sasl.mechanism }}
KAFKA_SASL_MECHANISM: {{ . }}
{{- end }}
{{- if .Values.kafka.sasl.tokenSecret }}
KAFKA_SASL_TOKEN_FILE: /etc/vigil/kafka-token/token
{{- end }}
{{- with .Values.registry.auth }}
SCHEMA_REGISTRY_AUTH: {{ . }}
{{- end }}
{{- if .Values.registry.tokenSecret }}
SCHEMA_REGISTRY_TOKEN_FILE: /etc/vigil/registry-token/token
{{- end }}
{{- if .Values.registry.caSecret }}
NODE_EXTRA_CA_CERTS: /etc/vigil/registry-ca/ca.crt
{{- end }}
{{- end }}

{{/* Secrets that every process mounts: a list of name, secret. */}}
{{- define "vigil.files" -}}
{{- with .Values.kafka.tls.caSecret }}
- { name: kafka-ca, secret: {{ . }} }
{{- end }}
{{- with .Values.kafka.sasl.tokenSecret }}
- { name: kafka-token, secret: {{ . }} }
{{- end }}
{{- with .Values.registry.tokenSecret }}
- { name: registry-token, secret: {{ . }} }
{{- end }}
{{- with .Values.registry.caSecret }}
- { name: registry-ca, secret: {{ . }} }
{{- end }}
{{- with .Values.database.caSecret }}
- { name: database-ca, secret: {{ . }} }
{{- end }}
{{- end }}

{{- define "vigil.mounts" -}}
- { name: scratch, mountPath: /tmp }
{{- range (include "vigil.files" . | fromYamlArray) }}
- { name: {{ .name }}, mountPath: /etc/vigil/{{ .name }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "vigil.volumes" -}}
- name: scratch
  emptyDir: { sizeLimit: 64Mi }
{{- range (include "vigil.files" . | fromYamlArray) }}
- name: {{ .name }}
  secret: { secretName: {{ .secret }}, defaultMode: 288 } # 0440
{{- end }}
{{- end }}

{{- define "vigil.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
# Files of secrets belong to root, and this group reads them.
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "vigil.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
readOnlyRootFilesystem: true
{{- end }}

{{/* VIGIL_PROBES: the probes of every service. */}}
{{- define "vigil.probes" -}}
{{- $pairs := list }}
{{- range $name, $_ := .Values.services }}{{ $pairs = append $pairs (printf "%s=http://%s:7430" $name $name) }}{{ end }}
{{- join "," $pairs }}
{{- end }}
