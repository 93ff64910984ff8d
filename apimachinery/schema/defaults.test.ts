import { describe, expect, test } from "vitest"
import type { Json } from "../object.ts"
import { decodeObject } from "./decode/decode.ts"
import { applyDefaults, lacksDefaults } from "./defaults.ts"
import { schemaOf } from "./facts.ts"
import { compileStructural } from "./structural/structural.ts"

function defaulted(group: string, kind: string, spec: Json): Json {
  const schema = schemaOf({ group, version: "v1", kind })
  if (schema === undefined) throw new Error(`${kind} has no schema`)
  const value: Json = { apiVersion: group === "" ? "v1" : `${group}/v1`, kind, spec }
  decodeObject(schema, value, false)
  applyDefaults(schema, value)
  return value
}

describe("applyDefaults() of built-in kinds", () => {
  test("sets defaults that do not depend on other fields, at every level", () => {
    const pod = { containers: [{ name: "a", ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 1 } } }] }
    expect(defaulted("", "Pod", pod)).toMatchObject({
      spec: {
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
        terminationGracePeriodSeconds: 30,
        schedulerName: "default-scheduler",
        securityContext: {},
        containers: [
          {
            terminationMessagePath: "/dev/termination-log",
            terminationMessagePolicy: "File",
            ports: [{ containerPort: 80, protocol: "TCP" }],
            livenessProbe: {
              timeoutSeconds: 1,
              periodSeconds: 10,
              successThreshold: 1,
              failureThreshold: 3,
              httpGet: { path: "/", port: 1, scheme: "HTTP" },
            },
          },
        ],
      },
    })
  })

  test("keeps zero values of pointers, and replaces other zero values", () => {
    expect(defaulted("apps", "Deployment", { replicas: 0, strategy: { type: "" } })).toMatchObject({
      spec: {
        replicas: 0,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: "RollingUpdate" },
      },
    })
  })

  test("keeps zero values of pointers that are always printed", () => {
    const limited = { nominalConcurrencyShares: 0 }
    expect(defaulted("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", { limited })).toMatchObject({
      spec: { limited },
    })
  })

  test("defaults are copies", () => {
    const first = defaulted("", "Pod", {}) as { spec: { securityContext: { [key: string]: Json } } }
    first.spec.securityContext["runAsUser"] = 1
    expect(defaulted("", "Pod", {})).toMatchObject({ spec: { securityContext: {} } })
    expect((defaulted("", "Pod", {}) as typeof first).spec.securityContext).toEqual({})
  })
})

describe("applyDefaults() of custom resources", () => {
  const { schema } = compileStructural({
    type: "object",
    properties: {
      spec: {
        type: "object",
        default: {},
        properties: {
          a: { type: "string", default: "x" },
          b: { type: "object", properties: { c: { type: "integer", default: 1 } } },
          n: { type: "string", nullable: true, default: "x" },
          l: { type: "array", items: { type: "object", properties: { d: { type: "boolean", default: false } } } },
          m: {
            type: "object",
            additionalProperties: { type: "object", properties: { e: { type: "integer", default: 2 } } },
          },
        },
      },
    },
  })
  test.each<[Json, Json]>([
    [{}, { spec: { a: "x", n: "x" } }],
    [{ spec: { b: {} } }, { spec: { a: "x", n: "x", b: { c: 1 } } }],
    [{ spec: { a: null, n: null } }, { spec: { a: "x", n: null } }],
    [
      { spec: { l: [{}, { d: true }], m: { k: {} } } },
      { spec: { a: "x", n: "x", l: [{ d: false }, { d: true }], m: { k: { e: 2 } } } },
    ],
  ])("%j becomes %j", (value, expected) => {
    const given = structuredClone(value)
    expect(lacksDefaults(schema, value)).toBe(true)
    expect(value).toEqual(given)
    applyDefaults(schema, value)
    expect(value).toEqual(expected)
    expect(lacksDefaults(schema, value)).toBe(false)
  })

  test("an object that lacks none is not copied", () => {
    const metadata = {}
    Object.defineProperty(metadata, "managedFields", { enumerable: true, get: () => expect.unreachable("copied") })
    expect(lacksDefaults(schema, { metadata, spec: { a: "y", n: null } })).toBe(false)
  })

  test("more than can be stored is refused, also where it would only be read", () => {
    const item = { type: "object", properties: { d: { type: "string", default: "x".repeat(1024) } } }
    const { schema } = compileStructural({ type: "object", properties: { l: { type: "array", items: item } } })
    const value = { l: Array.from({ length: 5 * 1024 }, () => ({})) }
    expect(() => applyDefaults(schema, structuredClone(value))).toThrow("defaults add more than")
    expect(() => lacksDefaults(schema, value)).toThrow("defaults add more than")
  })

  test("keeps invalid null values if requested", () => {
    const open = { "x-kubernetes-preserve-unknown-fields": true }
    const properties = { a: { type: "string" }, d: { type: "string", default: "x" }, any: open }
    const { schema } = compileStructural({ type: "object", properties })
    const dropped: Json = { a: null, d: null, any: null }
    const kept: Json = { ...dropped }
    applyDefaults(schema, dropped)
    applyDefaults(schema, kept, true)
    expect(dropped).toEqual({ d: "x" })
    expect(kept).toEqual({ a: null, d: "x" })
  })
})
