// Random values of a field: mostly suitable for its name and type, so that requests pass the decoder and the first rule;
// sometimes invalid for any field.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { shortName } from "../generate/fields.ts"
import type { JsonObject } from "../generate/objects.ts"
import { sampleOfType } from "../generate/samples.ts"

/** Valid and almost valid values by field name, besides enums of the schema. */
const byName: Readonly<Record<string, readonly Json[]>> = {
  accessModes: ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"],
  action: ["Ignore", "FailJob", "FailIndex", "Count"],
  addressType: ["IPv4", "IPv6", "FQDN"],
  apiGroup: ["", "rbac.authorization.k8s.io", "apps", "example.com"],
  apiGroups: ["", "*", "apps", "example.com"],
  apiVersion: ["v1", "apps/v1", "example.com/v1", "a/b/c"],
  apiVersions: ["v1", "*"],
  cidr: ["10.0.0.0/8", "10.0.0.1/8", "fd00::/64", "010.0.0.0/8", "10.0.0.0"],
  cidrs: ["192.0.2.0/24", "fd00::/64", "192.0.2.1/24"],
  clusterIP: ["None", "", "10.96.7.7", "fd00::1", "10.0.0.0"],
  completionMode: ["Indexed", "NonIndexed"],
  concurrencyPolicy: ["Allow", "Forbid", "Replace"],
  effect: ["NoSchedule", "PreferNoSchedule", "NoExecute"],
  except: ["10.1.0.0/16", "11.0.0.0/8", "10.0.0.0/8"],
  expression: ["true", "object.metadata.name == 'a'", "1", "object.", "size(object.spec) > 0", "variables.a"],
  externalIPs: ["192.0.2.7", "127.0.0.1", "0.0.0.0", "fe80::1"],
  externalName: ["example.com", "Example.com", "10.0.0.1", ""],
  externalTrafficPolicy: ["Local", "Cluster"],
  fieldPath: ["metadata.name", "metadata.labels['a']", "status.podIP", "spec.nodeName", "metadata.labels"],
  finalizers: ["example.com/a", "kubernetes", "foregroundDeletion", "orphan", "plain"],
  fsType: ["ext4", "xfs", ""],
  host: ["example.com", "*.example.com", "Example.com", "10.0.0.1", "*"],
  hosts: ["example.com", "*.example.com", "10.0.0.1"],
  hostPort: [0, 80, 65_536],
  image: ["busybox", "", " busybox", "a/b:c"],
  internalTrafficPolicy: ["Local", "Cluster"],
  ip: ["10.9.8.7", "::1", "127.0.0.1", "10.9.8.007", "fe80::1"],
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: ["SingleStack", "PreferDualStack"],
  key: ["key", "constructor", "example.com/key", "kubernetes.io/hostname", "bad key!", ""],
  kind: ["ConfigMap", "Pod", "Deployment", "User", "Group", "ServiceAccount", "ClusterRole", "Role"],
  level: ["s0:c123,c456", ""],
  mountPath: ["/mnt", "/mnt/", "mnt", "/a:b", ""],
  mountPropagation: ["None", "HostToContainer", "Bidirectional"],
  namespace: ["", "default", "@{ns}", "other", "Bad"],
  namespaces: ["*", "default", "@{ns}"],
  nonResourceURLs: ["/healthz", "*", "/a/*", "a"],
  operations: ["CREATE", "UPDATE", "*", "CONNECT"],
  operator: ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal"],
  path: ["/", "/a", "a", "../a", "/a/../b", "a/..", ""],
  pathType: ["Exact", "Prefix", "ImplementationSpecific"],
  periodSeconds: [0, 1, 60, 1801],
  persistentVolumeReclaimPolicy: ["Retain", "Delete", "Recycle"],
  policyTypes: ["Ingress", "Egress"],
  port: [80, 0, 65_535, 65_536, "http", "a--b"],
  ports: [{ port: 80 }, { port: 80, name: "a" }, { port: 443, name: "b", protocol: "UDP" }],
  preemptionPolicy: ["Never", "PreemptLowerPriority"],
  protocol: ["TCP", "UDP", "SCTP"],
  resources: ["pods", "*", "pods/status", "*/*", "pods/*"],
  restartPolicy: ["Always", "OnFailure", "Never"],
  schedule: ["0 0 * * *", "@hourly", "* * * *", "TZ=UTC 0 0 * * *", "61 * * * *", "@every 1h"],
  scope: ["*", "Cluster", "Namespaced"],
  scopes: ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "PriorityClass"],
  scopeName: ["PriorityClass", "BestEffort", "Terminating"],
  serviceAccountName: ["default", "absent", "Bad!"],
  sessionAffinity: ["ClientIP", "None"],
  signerName: ["example.com/a", "kubernetes.io/kube-apiserver-client", "a"],
  sideEffects: ["None", "NoneOnDryRun", "Some"],
  status: ["True", "False", "Unknown"],
  subPath: ["a", "../a", "/a", ""],
  timeZone: ["Etc/UTC", "Europe/Berlin", "Local", "Bogus/Zone", ""],
  tolerationSeconds: [0, 60, -1],
  topologyKey: ["kubernetes.io/hostname", "zone", "", "bad key!"],
  type: [
    "ClusterIP",
    "NodePort",
    "LoadBalancer",
    "ExternalName",
    "Opaque",
    "RollingUpdate",
    "Recreate",
    "OnDelete",
    "Ready",
  ],
  updateMode: ["Auto", "Off"],
  usages: ["client auth", "server auth", "digital signature", "bogus"],
  values: ["a", "b", "bad value!", ""],
  verbs: ["get", "*", "list"],
  volumeBindingMode: ["Immediate", "WaitForFirstConsumer"],
  volumeMode: ["Filesystem", "Block"],
  whenUnsatisfiable: ["DoNotSchedule", "ScheduleAnyway"],
}

const words = ["a", "b", "minimal", "main", "volume", "a-word", "1", "example.com/word", "app"]
const oddWords = [
  "",
  " ",
  "Not valid!",
  "UPPER",
  "under_score",
  "dotted.name",
  "-dash",
  "with/slash",
  "ünïcödé",
  "\u{1f600}",
  "a\u0000b",
  "line\nbreak",
  '"quoted\\"',
  "x".repeat(64),
  "x".repeat(254),
  "ü".repeat(130),
  "10.0.0.1",
  "::ffff:10.0.0.1",
  "2001:DB8::1",
  "$(VAR)",
  "__proto__",
  "constructor",
  "null",
  "true",
  "0x10",
  "1e3",
  "<script>&amp;\u2028",
]

const byFormat: Readonly<Record<string, readonly Json[]>> = {
  byte: ["aGVsbG8=", "", "aGVsbG8", "no base64!", "aGVs\nbG8=", "_-8="],
  time: [
    "2024-01-02T03:04:05Z",
    "2024-01-02T03:04:05+02:00",
    "2024-01-02T03:04:05.5Z",
    "2024-02-30T00:00:00Z",
    "yesterday",
    "",
  ],
  microTime: ["2024-01-02T03:04:05.678901Z", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05.6789012Z", "yesterday"],
  duration: ["1m30s", "0s", "-1s", "1.5h", "soon", "1d"],
  quantity: [
    "1",
    "1.5",
    "-1",
    "1Gi",
    "100m",
    "1e3",
    "0.0001",
    "1E",
    "0",
    "lots",
    3,
    1.5,
    "1 Gi",
    "9223372036854775808",
  ],
}

const amounts = [
  "cpu",
  "memory",
  "storage",
  "ephemeral-storage",
  "example.com/thing",
  "pods",
  "requests.cpu",
  "hugepages-2Mi",
  "bad key!",
]
const keys = ["a", "b", "app", "example.com/key", "tier", "constructor", "toString"]
const oddKeys = ["", "bad key!", "x".repeat(64), "a/b/c", "Example.com/a", "__proto__", "ü"]
const numbers: readonly Json[] = [0, 1, 2, 3, 5, 10, 30, 80, 100, -1]
const oddNumbers: readonly Json[] = [101, 443, 1024, 65_535, 65_536, 86_401, 2 ** 31 - 1, -(2 ** 31)]
const deepest = 5

/** Mostly plausible values. */
export function plausibleValue(random: Random, schema: Schema, name = "", depth = 0): Json {
  const known = Object.hasOwn(byName, name) ? byName[name] : undefined
  const isScalar = schema.fields === undefined && schema.items === undefined
  if (known !== undefined && isScalar && chance(random, 0.8)) {
    const value = pick(random, known)
    if (typeof value === schemaWord(schema) || schema.type === "intOrString") return value
  }
  const values = schema.rules?.enum
  if (values !== undefined) return chance(random, 0.9) ? pick(random, values) : pick(random, words)
  const formatted = schema.format === undefined ? undefined : valuesOf(schema.format, name)
  if (formatted !== undefined) return chance(random, 0.6) ? (formatted[0] as Json) : pick(random, formatted)
  switch (schema.type) {
    case "string":
      return chance(random, 0.8) ? pick(random, words) : pick(random, oddWords)
    case "integer":
      return chance(random, 0.85) ? pick(random, numbers) : pick(random, oddNumbers)
    case "number":
      return pick(random, [0, 1, 1.5, -1, 1e21])
    case "boolean":
      return random(2) === 1
    case "intOrString":
      return pick(random, [1, 0, -1, "50%", "150%", "http", "a word", "100%"])
    case "any":
      return pick<Json>(random, [{ type: "string" }, true, {}, "x"])
    case "list":
      return Array.from({ length: random(3) }, () => plausibleValue(random, schema.items ?? schema, name, depth + 1))
    case "map":
      return plausibleMap(random, schema, depth)
    case "object":
      return plausibleObject(random, schema, depth)
  }
}

/** A certificate of no bytes is a known difference. */
function valuesOf(format: string, name: string): readonly Json[] | undefined {
  return name === "certificate" ? byFormat[format]?.filter((value) => value !== "") : byFormat[format]
}

function schemaWord({ type }: Schema): string {
  return type === "integer" ? "number" : type
}

function plausibleMap(random: Random, { items }: Schema, depth: number): Json {
  const names = items?.format === "quantity" ? amounts : keys
  const entries = Array.from({ length: random(3) }, (): [string, Json] => [
    chance(random, 0.9) ? pick(random, names) : pick(random, oddKeys),
    items === undefined ? "x" : plausibleValue(random, items, "", depth + 1),
  ])
  return Object.fromEntries(entries)
}

/** The sample of the type with some additional fields. */
function plausibleObject(random: Random, schema: Schema, depth: number): Json {
  const object = sampleOfType(shortName(schema))
  const fields = Object.entries(schema.fields ?? {})
  if (fields.length === 0 || depth > deepest) return object
  const more = random(depth > 2 ? 2 : 3)
  for (let count = 0; count < more; count++) {
    const [name, field] = pick(random, fields)
    object[name] = plausibleValue(random, field.schema, name, depth + 1)
  }
  return object
}

/** A value that is invalid for any field. */
export function oddValue(random: Random): Json {
  switch (random(8)) {
    case 0:
      return pick(random, oddWords)
    case 1:
      return pick(random, oddNumbers)
    case 2:
      return pick<Json>(random, [1.5, 2 ** 31, 3_000_000_000_000, 2n ** 63n - 1n, 2n ** 63n, 1e300, -0.5])
    case 3:
      return pick<Json>(random, [true, false])
    case 4:
      return pick<Json>(random, [[], [null], [[]], [1], ["a", "a"], [{}]])
    case 5:
      return pick<Json>(random, [{}, { a: 1 }, { "": "" }, { a: null }])
    case 6:
      return deep(random(2) === 1 ? 3 : 40)
    default:
      return null
  }
}

function deep(levels: number): Json {
  let value: Json = "x"
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

export function randomKey(random: Random): string {
  return chance(random, 0.7) ? pick(random, keys) : pick(random, oddKeys)
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
