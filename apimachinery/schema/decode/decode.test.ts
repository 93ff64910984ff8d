import { describe, expect, test } from "vitest"
import { FieldPath } from "../../field-errors.ts"
import type { GroupVersionKind, Json } from "../../object.ts"
import { StatusError } from "../../status.ts"
import { decodeObject, parseObject, writeZeros } from "./decode.ts"
import { hasGivenEmpty, hasGivenFractionWithin, isGivenEmpty, isGivenFraction } from "./given.ts"
import { schemaOf } from "../facts.ts"
import type { Schema } from "../schema.ts"
import { compileStructural } from "../structural/structural.ts"

const deployment: GroupVersionKind = { group: "apps", version: "v1", kind: "Deployment" }
const core = (kind: string): GroupVersionKind => ({ group: "", version: "v1", kind })

function schemaFor(kind: GroupVersionKind): Schema {
  const schema = schemaOf(kind)
  if (schema === undefined) throw new Error(`no schema of ${kind.kind}`)
  return schema
}

function decode(kind: GroupVersionKind, body: string): { value: { [key: string]: Json }; unknown: string[] } {
  const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`
  const text = `{"apiVersion":"${apiVersion}","kind":"${kind.kind}",${body.slice(1)}`
  const { value } = parseObject(Buffer.from(text), "json", { duplicates: false })
  const { unknown } = decodeObject(schemaFor(kind), value, true)
  return { value: value as { [key: string]: Json }, unknown }
}

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message
    throw error
  }
  return "no error"
}

const container = (text: string): string => `{"spec":{"template":{"spec":{"containers":[${text}]}}}}`

describe("decodeObject() rejects with upstream's messages", () => {
  test.each([
    [
      '{"spec":{"replicas":"x"}}',
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":1.5}}',
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":1.0}}',
      "json: cannot unmarshal number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":99999999999}}',
      "json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":1e400}}',
      "json: cannot unmarshal number 1e400 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":true}}',
      "json: cannot unmarshal bool into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":{}}}',
      "json: cannot unmarshal object into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    ['{"spec":[]}', "json: cannot unmarshal array into Go struct field Deployment.spec of type v1.DeploymentSpec"],
    [
      '{"spec":{"template":{"spec":{"containers":{}}}}}',
      "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
    ],
    [
      container("1"),
      "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
    ],
    [
      container('{"name":5}'),
      "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string",
    ],
    [
      container('{"args":[5]}'),
      "json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.args of type string",
    ],
    [
      '{"metadata":{"labels":{"a":5}}}',
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      '{"metadata":{"labels":[]}}',
      "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
    ],
    ['{"metadata":5}', "json: cannot unmarshal number into Go struct field Deployment.metadata of type v1.ObjectMeta"],
    [
      '{"metadata":{"creationTimestamp":5}}',
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ],
    [
      '{"metadata":{"creationTimestamp":"x"}}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      container('{"resources":{"limits":{"cpu":"x"}}}'),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      container('{"resources":{"limits":{"cpu":true}}}'),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      container('{"livenessProbe":{"httpGet":{"port":1.5}}}'),
      "json: cannot unmarshal number 1.5 into Go struct field HTTPGetAction.spec.template.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
    ],
    [
      container('{"livenessProbe":{"httpGet":{"port":[]}}}'),
      "json: cannot unmarshal array into Go struct field HTTPGetAction.spec.template.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
    ],
    // The first of several errors, unless a type with its own decoder ends decoding.
    [
      '{"spec":{"replicas":"x","paused":7}}',
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      '{"spec":{"replicas":"x"},"metadata":{"labels":{"a":1},"creationTimestamp":"x"}}',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      '{"spec":{"replicas":"x"},"metadata":{"creationTimestamp":5}}',
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ],
  ])("%s", (body, message) => {
    expect(messageOf(() => decode(deployment, body))).toBe(
      `Deployment in version "v1" cannot be handled as a Deployment: ${message}`,
    )
  })

  test.each([
    ['{"data":{"a":"%%"}}', "illegal base64 data at input byte 0"],
    ['{"data":{"a":"QQ==QQ=="}}', "illegal base64 data at input byte 4"],
    ['{"data":{"a":"QQ="}}', "illegal base64 data at input byte 3"],
    ['{"data":{"a":"QQ=\\nQ"}}', "illegal base64 data at input byte 3"],
    ['{"data":{"a":"QUI=\\n?"}}', "illegal base64 data at input byte 5"],
    ['{"data":{"a":"Q\\nQ"}}', "illegal base64 data at input byte 1"],
    ['{"data":{"a":5}}', "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"],
  ])("secret %s", (body, message) => {
    expect(messageOf(() => decode(core("Secret"), body))).toBe(
      `Secret in version "v1" cannot be handled as a Secret: ${message}`,
    )
  })

  test.each(["9223372036854775808", "1e17", "-9223372036854775809"])("%s is not a 64-bit integer", (literal) => {
    expect(messageOf(() => decode(deployment, `{"metadata":{"generation":${literal}}}`))).toContain(
      `cannot unmarshal number ${literal} into Go struct field ObjectMeta.metadata.generation of type int64`,
    )
  })

  test("an integer of more than 32 bits in a 32-bit field", () => {
    expect(messageOf(() => decode(deployment, '{"spec":{"replicas":9223372036854775807}}'))).toContain(
      "cannot unmarshal number 9223372036854775807 into Go struct field DeploymentSpec.spec.replicas of type int32",
    )
  })
})

describe("decodeObject() returns the value of Go's type", () => {
  test("unknown fields are dropped and reported with their path, and names are case-sensitive", () => {
    const { value, unknown } = decode(
      core("Pod"),
      '{"Spec":{},"spec":{"containers":[{"name":"a","foo":1,"env":[{"name":"A","bar":2}]}],"volumes":[{"name":"v","emptyDir":{"x":1}}],"foo":{"a":1}}}',
    )
    expect(unknown).toEqual([
      'unknown field "Spec"',
      'unknown field "spec.containers[0].foo"',
      'unknown field "spec.containers[0].env[0].bar"',
      'unknown field "spec.volumes[0].emptyDir.x"',
      'unknown field "spec.foo"',
    ])
    expect(value["spec"]).toEqual({
      containers: [{ name: "a", env: [{ name: "A" }], resources: {} }],
      volumes: [{ name: "v", emptyDir: {} }],
    })
  })

  test("__proto__ and constructor are ordinary keys", () => {
    const { value, unknown } = decode(
      core("ConfigMap"),
      '{"data":{"a":null,"__proto__":"x","constructor":"y"},"__proto__":{"x":1},"constructor":1}',
    )
    expect(unknown).toEqual(['unknown field "__proto__"', 'unknown field "constructor"'])
    expect(JSON.stringify(value["data"])).toBe('{"a":"","__proto__":"x","constructor":"y"}')
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test("null and zero values without a pointer are treated as absent", () => {
    const { value } = decode(
      deployment,
      '{"metadata":{"labels":{}},"spec":{"replicas":0,"paused":false,"selector":null}}',
    )
    expect(value["metadata"]).toEqual({})
    expect(value["spec"]).toEqual({ replicas: 0, strategy: {}, template: { metadata: {}, spec: {} } })
  })

  test("strings are converted to canonical form", () => {
    const { value } = decode(
      core("Secret"),
      '{"metadata":{"creationTimestamp":"2026-01-01T01:00:00.5+02:00"},"data":{"a":"YW\\nE="}}',
    )
    expect(value["metadata"]).toEqual({ creationTimestamp: "2025-12-31T23:00:00Z" })
    expect(value["data"]).toEqual({ a: "YWE=" })
  })

  test("writeZeros() adds absent fields that Go prints", () => {
    const role: GroupVersionKind = { group: "rbac.authorization.k8s.io", version: "v1", kind: "ClusterRole" }
    const { value } = decode(role, '{"metadata":{}}')
    writeZeros(schemaFor(role), value)
    expect(value).toMatchObject({ metadata: {}, rules: null })
  })
})

test("a decoded object remembers empty values that were dropped", () => {
  const kind = { group: "networking.k8s.io", version: "v1", kind: "NetworkPolicy" }
  const { value } = decode(kind, '{"spec":{"podSelector":{"matchLabels":{}},"egress":[]}}')
  const spec = value["spec"] as { [key: string]: Json }
  expect(spec).toEqual({ podSelector: {} })
  expect(isGivenEmpty(spec, "egress")).toBe(true)
  expect(isGivenEmpty(spec, "ingress")).toBe(false)
  spec["egress"] = [{}]
  expect(isGivenEmpty(spec, "egress")).toBe(false)
  expect(hasGivenEmpty(spec)).toBe(true)
  expect(hasGivenEmpty(structuredClone(spec))).toBe(false)
})

test("a decoded object remembers fractions of times that were dropped", () => {
  const template = (time: string): { [key: string]: Json } => {
    const { value } = decode(
      core("PodTemplate"),
      JSON.stringify({ template: { metadata: { creationTimestamp: time } } }),
    )
    return value["template"] as { [key: string]: Json }
  }
  const given = template("2026-01-01T00:00:00.5Z")
  const metadata = given["metadata"] as { [key: string]: Json }
  expect(metadata).toEqual({ creationTimestamp: "2026-01-01T00:00:00Z" })
  expect(isGivenFraction(metadata, "creationTimestamp")).toBe(true)
  expect(hasGivenFractionWithin(given)).toBe(true)
  expect(hasGivenFractionWithin(structuredClone(given))).toBe(false)
  metadata["creationTimestamp"] = "2026-01-01T00:00:01Z"
  expect(hasGivenFractionWithin(given)).toBe(false)
  const nanoseconds = ["00:00:00,5Z", "00:00:00.000000001Z", "00:00:00.000Z", "00:00:00.0000000001Z", "02:00:00+02:00"]
  const kept = nanoseconds.map((time) => hasGivenFractionWithin(template(`2026-01-01T${time}`)))
  expect(kept).toEqual([true, true, false, false, false])
})

test("a decoded custom resource remembers whole numbers that were given as doubles", () => {
  const { schema } = compileStructural({ type: "object", "x-kubernetes-preserve-unknown-fields": true })
  const given = (number: string): boolean => {
    const { value } = parseObject(
      Buffer.from(`{"apiVersion":"a/v1","kind":"A","spec":{"list":[1,${number}]}}`),
      "json",
      {
        duplicates: false,
      },
    )
    decodeObject(schema, value, false)
    return hasGivenFractionWithin(value)
  }
  const numbers = ["1", "1.0", "1e3", "-0.0", "1.5", "9223372036854774784.0", "1e19"]
  expect(numbers.map(given)).toEqual([false, true, true, true, false, true, false])
})

test.each<[string, Json, string]>([
  ["labels", "", "string into Go struct field ObjectMeta.labels of type map[string]string"],
  ["annotations", [], "array into Go struct field ObjectMeta.annotations of type map[string]string"],
  ["finalizers", false, "bool into Go struct field ObjectMeta.finalizers of type []string"],
  ["name", 0, "number into Go struct field ObjectMeta.name of type string"],
])("the %s of a custom resource are no zero of another type: %j", (field, value, fault) => {
  const { schema } = compileStructural({ type: "object" }, FieldPath.root())
  const object = { apiVersion: "a/v1", kind: "A", metadata: { [field]: value } }
  expect(messageOf(() => decodeObject(schema, object, true))).toContain(`json: cannot unmarshal ${fault}`)
})
