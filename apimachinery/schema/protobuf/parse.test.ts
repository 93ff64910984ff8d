// Compares with Go's encoding: messages.json contains, for every kind, an object with a value in each field and one with zero
// values, encoded by k8s.io/apimachinery's serializer, and the JSON of the same Go values (generate/messages.go).

import { describe, expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { StatusError } from "../../status.ts"
import { createRandom, seedOf } from "../../testing/random.ts"
import { decodeObject, writeZeros } from "../decode/decode.ts"
import { parseProtobuf } from "./parse.ts"
import { readUnion } from "./unions.ts"
import { messages, schemaNamed } from "../testing/protobuf-messages.ts"

/** Decoded like a request body, and printed again. */
function decoded(kind: string, value: Json): Json {
  const schema = schemaNamed(kind)
  decodeObject(schema, value, false)
  writeZeros(schema, value)
  return value
}

const parse = (kind: string, bytes: Uint8Array): Json => parseProtobuf(bytes, schemaNamed(kind))

const messageOf = (kind: string): Buffer =>
  Buffer.from(messages.find((message) => message.kind === kind)?.protobuf ?? "", "base64")

/** A field of type bytes, and of type varint. */
const bytes = (number: number, ...content: (Uint8Array | string)[]): Buffer => {
  const all = Buffer.concat(content.map((part) => Buffer.from(part as string)))
  return Buffer.concat([varint((number << 3) | 2), varint(all.length), all])
}
const varint = (value: number): Buffer => {
  const out: number[] = []
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...out, Number(rest)])
    out.push(Number(rest & 0x7fn) | 0x80)
  }
}
const number = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)])
const envelope = (...raw: Uint8Array[]): Buffer => Buffer.concat([Buffer.from("k8s\0"), bytes(2, ...raw)])

describe("parseProtobuf()", () => {
  test.each(messages.map((message, index) => [message.kind, index % 2 === 0 ? "full" : "of zeros", message] as const))(
    "reads %s %s as Go does",
    (kind, _filling, { protobuf, json }) => {
      const read = decoded(kind, parse(kind, Buffer.from(protobuf, "base64")))
      expect(read).toEqual(decoded(kind, structuredClone(json)))
    },
  )

  test("ignores fields of newer clients", () => {
    const raw = [bytes(1, bytes(1, "x"), bytes(200, "new")), number(201, 1), bytes(202, "new")]
    expect(parse("v1/ConfigMap", envelope(...raw))).toEqual({ metadata: { name: "x" } })
  })

  test("reads the type from the envelope, if there is one", () => {
    const typed = Buffer.concat([Buffer.from("k8s\0"), bytes(1, bytes(1, "v1"), bytes(2, "ConfigMap"))])
    expect(parse("v1/ConfigMap", typed)).toEqual({ apiVersion: "v1", kind: "ConfigMap" })
    expect(parse("v1/ConfigMap", envelope())).toEqual({})
  })

  test("treats map keys as data", () => {
    const read = parse("v1/ConfigMap", envelope(bytes(2, bytes(1, "__proto__"), bytes(2, "x"))))
    expect(Object.entries((read as { data: object }).data)).toEqual([["__proto__", "x"]])
    expect(Object.getPrototypeOf((read as { data: object }).data)).toBe(Object.prototype)
  })

  test("reads packed numbers", () => {
    // PodSecurityContext.supplementalGroups
    const read = parse("v1/Pod", envelope(bytes(2, bytes(14, bytes(4, varint(1), varint(300))))))
    expect(read).toEqual({ spec: { securityContext: { supplementalGroups: [1, 300] } } })
  })

  test("continues behind the last of packed numbers, even if it ends behind their field", () => {
    const groups = Buffer.concat([varint((4 << 3) | 2), varint(1), varint(300), number(5, 7)])
    const read = parse("v1/Pod", envelope(bytes(2, bytes(14, groups))))
    expect(read).toEqual({ spec: { securityContext: { supplementalGroups: [300], fsGroup: 7 } } })
  })

  test("leaves what an empty message adds nothing to", () => {
    // EmptyDirVolumeSource.sizeLimit, HTTPGetAction.port, ControllerRevision.data
    const twice = (field: number, content: Buffer): Buffer => Buffer.concat([bytes(field, content), bytes(field)])
    const volume = bytes(1, bytes(1, "v"), bytes(2, bytes(2, twice(2, bytes(1, "1Gi")))))
    const probe = bytes(10, bytes(1, bytes(2, twice(2, Buffer.concat([number(1, 1), bytes(3, "http")])))))
    const read = parse("v1/Pod", envelope(bytes(2, volume, bytes(2, probe))))
    expect(read).toEqual({
      spec: {
        volumes: [{ name: "v", emptyDir: { sizeLimit: "1Gi" } }],
        containers: [{ livenessProbe: { httpGet: { port: "http" } } }],
      },
    })
    const revision = envelope(twice(2, bytes(1, '{"a":1}')))
    expect(parse("apps/v1/ControllerRevision", revision)).toEqual({ data: { a: 1 } })
  })

  test("adds the values of a repeated union", () => {
    // JSONSchemaProps.items and additionalProperties
    const typed = (type: string): Buffer => bytes(5, type)
    const schema = Buffer.concat([
      ...["object", "string"].map((type) => bytes(24, bytes(2, typed(type)))),
      bytes(30, number(1, 0), bytes(2, typed("object"))),
      bytes(30, number(1, 1)),
    ])
    const read = parse(
      "apiextensions.k8s.io/v1/CustomResourceDefinition",
      envelope(bytes(2, bytes(7, bytes(4, bytes(1, schema))))),
    )
    const openAPIV3Schema = {
      items: [{ type: "object" }, { type: "string" }],
      additionalProperties: { type: "object" },
    }
    expect(read).toEqual({ spec: { versions: [{ schema: { openAPIV3Schema } }] } })
  })

  test("adds to the list that a union has become, in place", () => {
    const name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray"
    const before = ["a"]
    const read = readUnion({ type: "any", name }, bytes(2, "b"), () => expect.fail(), before)
    expect(read).toBe(before)
    expect(before).toEqual(["a", "b"])
  })

  function nested(depth: number): Buffer {
    let schema = bytes(5, "object")
    for (let level = 0; level < depth; level++) schema = bytes(28, schema)
    return envelope(bytes(2, bytes(7, bytes(4, bytes(1, schema)))))
  }

  test("limits nesting", () => {
    expect(() => parse("apiextensions.k8s.io/v1/CustomResourceDefinition", nested(100))).not.toThrow()
    expect(() => parse("apiextensions.k8s.io/v1/CustomResourceDefinition", nested(2000))).toThrow("too deeply")
  })

  test.each<[string, string, Uint8Array]>([
    ["no prefix", "v1/ConfigMap", Buffer.from("{}")],
    ["an empty body", "v1/ConfigMap", Buffer.alloc(0)],
    ["a field longer than the message", "v1/ConfigMap", Buffer.from("6b3873001205", "hex")],
    ["a length beyond all memory", "v1/ConfigMap", Buffer.from("6b38730012ffffffffffffffffff01", "hex")],
    ["a number without end", "v1/ConfigMap", Buffer.from(`6b38730008${"ff".repeat(20)}`, "hex")],
    ["field number zero", "v1/ConfigMap", Buffer.from("6b3873000000", "hex")],
    ["a group", "v1/ConfigMap", Buffer.from("6b3873000b0c", "hex")],
    ["a text where an object belongs", "v1/ConfigMap", envelope(bytes(1, "\xff\xff"))],
    ["a number where an object belongs", "v1/ConfigMap", envelope(number(1, 5))],
    ["bytes where a number belongs", "apps/v1/Deployment", envelope(bytes(2, bytes(1, "xx")))],
    ["an embedded object that is no JSON", "apps/v1/ControllerRevision", envelope(bytes(2, bytes(1, "{")))],
    [
      "an embedded object nested too deeply",
      "apps/v1/ControllerRevision",
      envelope(bytes(2, bytes(1, "[".repeat(100_000), "]".repeat(100_000)))),
    ],
    ["a time beyond all calendars", "v1/ConfigMap", envelope(bytes(1, bytes(8, number(1, 2 ** 53))))],
  ])("rejects %s with 400", (_what, kind, body) => {
    expect(() => parse(kind, body)).toThrow(expect.objectContaining({ code: 400 }) as Error)
  })

  // In the words of the code that gogo-protobuf generates.
  test.each<[string, string, Uint8Array, string]>([
    ["a number", "v1/ConfigMap", envelope(number(1, 5)), "proto: wrong wireType = 0 for field ObjectMeta"],
    ["a group", "v1/ConfigMap", envelope(Buffer.from("0b0c", "hex")), "proto: wrong wireType = 3 for field ObjectMeta"],
    [
      "a number deep inside",
      "v1/Pod",
      envelope(bytes(2, bytes(2, number(15, 1)))),
      "proto: wrong wireType = 0 for field SecurityContext",
    ],
    [
      "bytes for a boolean",
      "v1/Pod",
      envelope(bytes(2, bytes(11, "x"))),
      "proto: wrong wireType = 2 for field HostNetwork",
    ],
    ["a number without end", "v1/Pod", envelope(bytes(2, bytes(14, bytes(4, Buffer.of(0x80))))), "unexpected EOF"],
    [
      "the end of a group",
      "v1/Pod",
      envelope(bytes(2, Buffer.of(0x0c))),
      "proto: PodSpec: wiretype end group for non-group",
    ],
    ["field zero", "v1/Pod", envelope(Buffer.of(0, 0)), "proto: Pod: illegal tag 0 (wire type 0)"],
    [
      "a negative field",
      "v1/Pod",
      envelope(Buffer.from("f8ffffff7f01", "hex")),
      "proto: Pod: illegal tag -1 (wire type 34359738360)",
    ],
    ["wire type 6", "v1/Pod", envelope(Buffer.of(0x7e)), "proto: illegal wireType 6"],
    ["an unknown group without end", "v1/Pod", envelope(Buffer.from("c33e", "hex")), "unexpected EOF"],
    [
      "a negative length",
      "v1/Pod",
      envelope(Buffer.from("0affffffffffffffffff01", "hex")),
      "proto: negative length found during unmarshaling",
    ],
    [
      "the embedded source of a volume",
      "v1/Pod",
      envelope(bytes(2, bytes(1, number(2, 1)))),
      "proto: wrong wireType = 0 for field VolumeSource",
    ],
    [
      "a value longer than its entry",
      "v1/ConfigMap",
      envelope(Buffer.concat([bytes(2, Buffer.of(0x0a, 1, 0x61, 0x12, 9)), bytes(2, "0123456789")])),
      "proto: a key or value ends behind the entry of its map",
    ],
    [
      "a text for a time",
      "v1/Pod",
      envelope(bytes(1, bytes(8, bytes(1, "x")))),
      "proto: wrong wireType = 2 for field Seconds",
    ],
  ])("says of %s in a %s what Go says", (_what, kind, body, message) => {
    const parsed = () => parseProtobuf(body, schemaNamed(kind), { kind: "Thing", version: "v1" })
    expect(parsed).toThrow(`Thing in version "v1" cannot be handled as a Thing: ${message}`)
  })

  test("refuses an envelope as unrecognized", () => {
    const body = Buffer.from("6b3873000801", "hex")
    expect(() => parseProtobuf(body, schemaNamed("v1/Pod"), { kind: "Pod", version: "v1" })).toThrow(
      "the object provided is unrecognized (must be of type Pod): proto: wrong wireType = 0 for field TypeMeta (6b3873000801)",
    )
  })

  test.each<[string, string, Uint8Array, Json]>([
    [
      "a message in several parts as one",
      "v1/ConfigMap",
      envelope(bytes(1, bytes(1, "x")), bytes(1, bytes(3, "y"))),
      { metadata: { name: "x", namespace: "y" } },
    ],
    [
      "a number as long as its field",
      "apps/v1/Deployment",
      envelope(bytes(2, number(1, 2 ** 32 + 5))),
      { spec: { replicas: 5 } },
    ],
    ["nothing of a group of newer clients", "v1/ConfigMap", envelope(Buffer.from("c33e0801c43e", "hex")), {}],
    [
      "an entry of a map without looking at wire types",
      "v1/ConfigMap",
      envelope(bytes(2, Buffer.from("080161", "hex"))),
      { data: { a: "" } },
    ],
    [
      "a time without fractions",
      "v1/Pod",
      envelope(bytes(1, bytes(8, number(2, 5)))),
      { metadata: { creationTimestamp: "1970-01-01T00:00:00Z" } },
    ],
    [
      "a quantity without text as zero",
      "v1/ResourceQuota",
      envelope(bytes(2, bytes(1, bytes(1, "pods")))),
      { spec: { hard: { pods: "0" } } },
    ],
  ])("reads %s", (_what, kind, body, expected) => {
    expect(parse(kind, body)).toEqual(expected)
  })

  test("rejects a message truncated at any byte", () => {
    const whole = messageOf("v1/Pod")
    let refused = 0
    for (let length = 0; length < whole.length; length += 7) refused += survives("v1/Pod", whole.subarray(0, length))
    // At a field boundary it is a valid, shorter message.
    expect(refused).toBeGreaterThan(whole.length / 7 - 3)
  })

  test("survives random bytes", () => {
    const seed = seedOf()
    const random = createRandom(seed)
    const kinds = ["v1/Pod", "apiextensions.k8s.io/v1/CustomResourceDefinition", "v1/Service", "batch/v1/CronJob"]
    for (let round = 0; round < 2000; round++) {
      const kind = kinds[round % kinds.length] ?? ""
      const body = Buffer.from(messageOf(kind))
      for (let change = 0; change < 1 + (round % 4); change++) body[4 + random(body.length - 4)] = random(256)
      try {
        survives(kind, body)
      } catch (error) {
        throw new Error(`with SEED=${seed}, round ${round}`, { cause: error })
      }
    }
  })
})

/** Returns 1 if it was rejected with the right error, 0 if it was parsed. */
function survives(kind: string, body: Uint8Array): number {
  try {
    decoded(kind, parse(kind, body))
    return 0
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return 1
    throw error
  }
}
