// Combinations of options of list and watch, and the errors of invalid ones. The expectations are kube-apiserver's responses to the
// same requests.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startControlPlane, type TestControlPlane } from "./control-plane.ts"

let plane: TestControlPlane
const path = "/api/v1/namespaces/default/configmaps"
const mine = `${path}?labelSelector=test=yes`
const future = "999999999"

beforeAll(async () => {
  plane = await startControlPlane()
  for (let i = 1; i <= 5; i++) {
    const metadata = { name: `c${i}`, labels: { test: "yes" } }
    await plane.call("POST", path, { apiVersion: "v1", kind: "ConfigMap", metadata })
  }
})
afterAll(async () => {
  await plane?.[Symbol.asyncDispose]()
})

const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const version = "meta.k8s.io/v1"
const forbidden = (detail: string) =>
  `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ${detail}`
const badToken = (detail: string) => `invalid continue token: continue key is not valid: ${detail}`

describe("a list is refused", () => {
  test.each([
    [
      "resourceVersion=abc",
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      "resourceVersion=0&resourceVersionMatch=Exact",
      422,
      forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    ],
    [
      "resourceVersionMatch=Exact",
      422,
      forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"),
    ],
    [
      "continue=abc&resourceVersion=5&resourceVersionMatch=Exact",
      422,
      forbidden("resourceVersionMatch is forbidden when continue is provided"),
    ],
    [
      "resourceVersion=1&resourceVersionMatch=Foo",
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""',
    ],
    [`resourceVersion=${future}`, 504, `Timeout: Too large resource version: ${future}, current: `],
    [
      "sendInitialEvents=false",
      422,
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    ],
    ["limit=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ["limit=", 400, 'strconv.ParseInt: parsing "": invalid syntax'],
    ["timeoutSeconds=1.5", 400, 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ["continue=abc", 400, badToken("invalid character 'i' looking for beginning of value")],
    ["continue=a.b", 400, badToken("illegal base64 data at input byte 1")],
    [
      `continue=${token({ v: version, rv: 0, start: "x\0" })}`,
      400,
      badToken(`incorrect encoded start resourceVersion (version ${version})`),
    ],
    [
      `continue=${token({ v: "v2", rv: 5, start: "x\0" })}`,
      400,
      badToken("server does not recognize this encoded version v2"),
    ],
    [
      `continue=${token({ v: version, rv: 5, start: "" })}`,
      400,
      badToken(`encoded start key empty (version ${version})`),
    ],
    [`continue=${token({ v: version, rv: 5, start: "../../x" })}`, 400, badToken("../../x")],
    [
      `continue=${token({ v: version, rv: "5", start: "x" })}`,
      400,
      badToken("json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
    ],
    [
      `continue=${token([])}`,
      400,
      badToken("json: cannot unmarshal array into Go value of type storage.continueToken"),
    ],
    [
      "fieldSelector=spec.foo=x",
      400,
      '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ["fieldSelector=metadata.name", 400, "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ])("%s", async (query, code, message) => {
    const { json } = await plane.call("GET", `${path}?${query}`)
    expect(json).toMatchObject({ kind: "Status", code, message: expect.stringContaining(message) as string })
  })

  test.each([
    ["/api/v1/pods", "field label not supported: foo"],
    ["/apis/batch/v1/jobs", 'field label "foo" not supported for Job'],
    [
      "/apis/resource.k8s.io/v1/resourceslices",
      "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: foo",
    ],
  ])("%s by a field it has not", async (of, message) => {
    expect((await plane.call("GET", `${of}?fieldSelector=foo=x`)).json).toMatchObject({ code: 400, message })
  })

  test("with a token and a resource version", async () => {
    const first = await plane.call("GET", `${path}?limit=1`)
    const { continue: next } = first.json.metadata
    const refused = await plane.call("GET", `${path}?continue=${next}&resourceVersion=5`)
    expect(refused.json).toMatchObject({
      code: 400,
      message: "specifying resource version is not allowed when using continue",
    })
    expect((await plane.call("GET", `${path}?continue=${next}&resourceVersion=0`)).code).toBe(200)
  })
})

describe("a limit", () => {
  const count = async (query: string) => (await plane.call("GET", `${mine}&${query}`)).json.items.length as number

  test("makes pages", async () => expect(await count("limit=2")).toBe(2))
  test("of any version does not: upstream's cache has no pages", async () => {
    expect(await count("limit=2&resourceVersion=0")).toBe(5)
  })
  test("below zero is none", async () => expect(await count("limit=-1")).toBe(5))

  test("a token begins below what is listed", async () => {
    const first = await plane.call("GET", `${path}?limit=1`)
    const { continue: next } = first.json.metadata
    expect(JSON.parse(Buffer.from(next, "base64url").toString())).toMatchObject({ v: version, start: "/c1\0" })
  })
})

describe("a get is refused", () => {
  test.each([
    [
      "abc",
      { code: 500, message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax' },
    ],
    [future, { code: 504, reason: "Timeout" }],
  ])("at %s", async (resourceVersion, status) => {
    expect((await plane.call("GET", `${path}/c1?resourceVersion=${resourceVersion}`)).json).toMatchObject(status)
  })
})

describe("a watch is refused", () => {
  test.each([
    ["resourceVersion=abc", 500, "strconv.ParseUint"],
    ["timeoutSeconds=abc", 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    [
      "resourceVersionMatch=NotOlderThan",
      422,
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    ],
    ["sendInitialEvents=true", 422, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"],
    [
      "sendInitialEvents=true&resourceVersionMatch=Exact",
      422,
      'Unsupported value: "Exact": supported values: "NotOlderThan"',
    ],
    ["continue=abc", 422, "resourceVersionMatch is forbidden when continue is provided"],
    ["labelSelector===", 400, "found '==', expected: !, identifier, or 'end of string'"],
  ])("%s", async (query, code, message) => {
    const { json } = await plane.call("GET", `${path}?watch=1&${query}`)
    expect(json).toMatchObject({ kind: "Status", code, message: expect.stringContaining(message) as string })
  })

  test("of a kind that has none", async () => {
    expect((await plane.call("GET", "/api/v1/componentstatuses?watch=1")).json).toMatchObject({
      code: 405,
      message: 'watch is not supported on resources of kind "componentstatuses"',
    })
  })
})

describe("a watch", () => {
  const events = async (query: string) => {
    const { text } = await plane.call("GET", `${path}?watch=1&timeoutSeconds=1&${query}`)
    const lines = text.split("\n").filter((line) => line !== "")
    return lines.map((line) => JSON.parse(line) as { type: string; object: { kind: string; metadata: object } })
  }

  test("with initial events says when they are over", async () => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    const all = await events(`${query}&labelSelector=test=yes`)
    expect(all.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "ADDED", "ADDED", "ADDED", "BOOKMARK"])
    expect(all.at(-1)?.object).toMatchObject({
      kind: "ConfigMap",
      metadata: { annotations: { "k8s.io/initial-events-end": "true" }, resourceVersion: expect.any(String) as string },
    })
  })

  test("with initial events of a version to come is told so in the stream", async () => {
    const query = `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${future}`
    expect(await events(query)).toEqual([
      {
        type: "ERROR",
        object: expect.objectContaining({
          code: 504,
          reason: "Timeout",
          details: {
            causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
            retryAfterSeconds: 1,
          },
        }) as object,
      },
    ])
  })

  test("without them begins with what comes", async () => {
    expect(await events("sendInitialEvents=false&resourceVersionMatch=NotOlderThan")).toEqual([])
  })

  test("whose time is over before it begins ends at once", async () => {
    expect((await plane.call("GET", `${path}?watch=1&timeoutSeconds=-1`)).code).toBe(200)
  })

  test("may be asked for longer than any timer can count", async () => {
    const watch = await plane.watch(`${path}?timeoutSeconds=99999999999&resourceVersion=0&labelSelector=test=yes`)
    expect((await watch.next())?.type).toBe("ADDED")
    await watch.stop()
  })
})
