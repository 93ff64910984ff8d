// Whatever bytes a client sends, the response is a success or a client error: no 5xx, no line in the error log, no hanging
// connection, and other requests are still served. Random; the seed is printed, and SEED= repeats a run.

import type { IncomingHttpHeaders } from "node:http"
import { Agent, request as httpsRequest } from "node:https"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Json, printGroupVersion } from "../../apimachinery/object.ts"
import { builtInResources, schemaOf } from "../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../apimachinery/schema/protobuf/encode.ts"
import { oddTexts, randomAny, randomObject } from "../../apimachinery/schema/testing/random-object.ts"
import { createRandom, pick, seedOf, type Random } from "../../apimachinery/testing/random.ts"
import { silentLog } from "../../client/log.ts"
import { eventually } from "../harness/eventually.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../../gateway/testing/start-gateway.ts"

const seed = seedOf()
const errors: object[] = []
const log = { ...silentLog, error: (fields: object) => errors.push(fields) }
/** Number of random cases per description; all of them together take some seconds. */
const rounds = 60

let gateway: TestGateway
let tenant: TestTenant
let agent: Agent

beforeAll(async () => {
  gateway = await startTestGateway({ log })
  tenant = await gateway.createTenant("a", { controllers: false })
  const { certificate = "", key = "" } = tenant
  const ca = gateway.gateway.certificateAuthority
  agent = new Agent({ keepAlive: true, ca, cert: certificate, key, checkServerIdentity: () => undefined })
  await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                list: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                text: { type: "string", pattern: "^(a+)+$", default: "aaa" },
              },
            },
          },
        },
      ],
    },
  })
  await eventually(async () => (await send("GET", "/apis/example.com/v1/things")).code === 200)
})

afterAll(async () => {
  agent?.destroy()
  await gateway?.[Symbol.asyncDispose]()
})

const json = "application/json"
const yaml = "application/yaml"
const protobuf = "application/vnd.kubernetes.protobuf"
const configMaps = "/api/v1/namespaces/default/configmaps"
const things = "/apis/example.com/v1/namespaces/default/things"

interface Answer {
  code: number
  headers: IncomingHttpHeaders
  text: string
}

/** Uses keep-alive connections: a handshake per request would take most of the time. */
function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  const length = raw === undefined ? {} : { "content-length": String(Buffer.byteLength(raw)) }
  const type = raw === undefined ? {} : { "content-type": json }
  const { hostname, port } = new URL(gateway.url)
  const all = { ...type, ...length, ...headers }
  return new Promise((resolve, reject) => {
    const target = { agent, hostname, port, method, path: `/tenants/a${path}`, headers: all }
    const request = httpsRequest(target, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ code: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    request.on("error", reject)
    request.end(raw)
  })
}

async function checkFault(what: string, answer: Promise<Answer>): Promise<void> {
  const { code, text, headers } = await answer
  const told = `SEED=${seed}: ${what}: ${code} ${text.slice(0, 300)}`
  expect(code, told).toBeGreaterThanOrEqual(200)
  const isStatus = headers["content-type"] === json && code >= 400 && text !== ""
  const status = isStatus ? (JSON.parse(text) as { kind: string; code: number; reason?: string }) : undefined
  if (status !== undefined) expect(status, told).toMatchObject({ kind: "Status", code })
  // Upstream answers some client errors with 500 without a reason, and requests for future resource versions with 504.
  const isUpstreams = (code === 500 && status?.reason === undefined) || (code === 504 && status?.reason === "Timeout")
  if (!isUpstreams) expect(code, told).toBeLessThan(500)
}

const bytes = (random: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => random(256)))

/** A nesting depth that overflows any stack unless the parser limits it. */
const deep = 200_000
const bombs: readonly (readonly [what: string, type: string, body: string | Buffer])[] = [
  ["lists in lists", json, `{"kind":"ConfigMap","apiVersion":"v1","data":${"[".repeat(deep)}`],
  ["closed lists in lists", json, `{"a":${"[".repeat(deep)}${"]".repeat(deep)}}`],
  ["objects in objects", json, `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}`],
  ["lists in lists in YAML", yaml, `a: ${"[".repeat(deep)}`],
  ["lists begun in one line of YAML", yaml, "- ".repeat(500_000)],
  ["a YAML of very many keys", yaml, Array.from({ length: 3000 }, (_, index) => `k${index}: ${index}`).join("\n")],
  ["maps in maps in YAML", yaml, Array.from({ length: 1200 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ["a YAML that multiplies", yaml, multiplying()],
  ["a YAML that contains itself", yaml, "a: &a [*a]"],
  ["a number beyond all", json, `{"metadata":{"name":"x","generation":${"9".repeat(100_000)}}}`],
  ["a small exponent", json, '{"metadata":{"generation":1e-999999999}}'],
  ["a large exponent", json, '{"metadata":{"generation":1e999999999}}'],
  ["keys given a thousand times", json, `{${'"kind":"ConfigMap",'.repeat(1000)}"apiVersion":"v1"}`],
  [
    "bytes that are no UTF-8",
    json,
    Buffer.from('{"kind":"ConfigMap","metadata":{"name":"\xff\xfe\xc0\x80"}}', "latin1"),
  ],
  ["half a surrogate", json, '{"kind":"ConfigMap","metadata":{"name":"\\ud800"},"data":{"\\udfff":"\\ud800"}}'],
  [
    "a prototype",
    json,
    '{"__proto__":{"kind":"Pod"},"constructor":{"prototype":{"x":1}},"metadata":{"name":"p","__proto__":{"a":"b"}}}',
  ],
  [
    "prototypes as labels",
    json,
    '{"metadata":{"name":"q","labels":{"__proto__":"x","constructor":"y"},"annotations":{"__proto__":"x"}}}',
  ],
  [
    "a patch that doubles what it copies",
    json,
    JSON.stringify(Array.from({ length: 60 }, (_, index) => ({ op: "copy", from: "", path: `/data/x${index}` }))),
  ],
  ["nothing", json, ""],
  ["null", json, "null"],
  ["a list", json, "[]"],
  ["a byte order mark", json, "\ufeff{}"],
  ["a protobuf of nothing", protobuf, "k8s\0"],
  ["a protobuf that is longer than it says", protobuf, Buffer.from("6b3873000aff", "hex")],
  ["a protobuf within itself", protobuf, Buffer.concat([Buffer.from("k8s\0"), Buffer.alloc(100_000, 0x0a)])],
]

function multiplying(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
  for (let index = 1; index < 12; index++) lines.push(`a${index}: &a${index} [${`*a${index - 1}, `.repeat(8)}x]`)
  return lines.join("\n")
}

describe("a body", () => {
  test.each(bombs)("that is %s", async (what, type, body) => {
    const headers = { "content-type": type }
    for (const path of [configMaps, things, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"])
      await checkFault(`${what} to ${path}`, send("POST", path, body, headers))
    await checkFault(`${what} in a delete`, send("DELETE", `${configMaps}/none`, body, headers))
    for (const patch of ["merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"]) {
      const patched = { "content-type": `application/${patch}` }
      await checkFault(
        `${what} as ${patch}`,
        send("PATCH", `${configMaps}/kube-root-ca.crt?fieldManager=m`, body, patched),
      )
    }
  })

  test("of random bytes", async () => {
    const random = createRandom(seed)
    for (let round = 0; round < rounds; round++) {
      const type = pick(random, [json, yaml, protobuf, "application/x", ""])
      const body = Buffer.concat([
        Buffer.from(pick(random, ["", "k8s\0", "{", '{"kind":', "---\n"])),
        bytes(random, random(400)),
      ])
      const path = pick(random, [configMaps, things, "/api/v1/namespaces/default/pods", "/apis/apps/v1/deployments"])
      await checkFault(`random bytes as ${type}`, send("POST", path, body, { "content-type": type }))
    }
  })

  test("of any kind with values nobody would write", async () => {
    const random = createRandom(seed)
    for (const resource of builtInResources()) {
      const schema = schemaOf(resource)
      if (schema === undefined || !resource.verbs.includes("create")) continue
      const { group, version, kind, namespaced } = resource
      const prefix = group === "" ? `/api/${version}` : `/apis/${group}/${version}`
      const path = `${prefix}${namespaced ? "/namespaces/default" : ""}/${resource.resource}`
      const apiVersion = printGroupVersion({ group, version })
      const object = { ...(randomObject(random, schema) as object), kind, apiVersion } as Record<string, Json>
      const metadata = {
        ...(object["metadata"] as object),
        name: `r-${random(1e9)}`,
        namespace: namespaced ? "default" : "",
      }
      const odd = { ...object, metadata: { name: metadata.name } }
      await checkFault(kind, send("POST", path, { ...object, metadata }))
      await checkFault(`${kind} with plain metadata`, send("POST", path, odd))
      const message = encodeProtobuf(schema, odd)
      message[4 + random(message.length - 4)] = random(256)
      await checkFault(`${kind} in broken protobuf`, send("POST", path, message, { "content-type": protobuf }))
      const apply = { "content-type": "application/apply-patch+yaml" }
      await checkFault(
        `${kind} applied`,
        send("PATCH", `${path}/${metadata.name}?fieldManager=f&force=true`, odd, apply),
      )
    }
  })

  test("that patches with anything", async () => {
    const random = createRandom(seed)
    const pointer = (): string =>
      Array.from(
        { length: random(4) },
        () => `/${pick(random, [...oddTexts, "metadata", "data", "-", "0", "labels"])}`,
      ).join("")
    await send("POST", configMaps, { kind: "ConfigMap", metadata: { name: "patched" }, data: { a: "b" } })
    await send("POST", things, { kind: "Thing", apiVersion: "example.com/v1", metadata: { name: "patched" }, free: {} })
    for (let round = 0; round < rounds; round++) {
      const operations = Array.from({ length: 1 + random(3) }, () => ({
        op: pick(random, ["add", "remove", "replace", "move", "copy", "test", "__proto__"]),
        path: pointer(),
        from: pointer(),
        value: randomAny(random),
      }))
      const merge = {
        [pick(random, oddTexts)]: randomAny(random),
        ...(random(2) === 0 ? {} : { metadata: randomAny(random) }),
        data: randomAny(random),
      }
      const target = pick(random, [`${configMaps}/patched`, `${things}/patched`])
      await checkFault(
        `JSON patch ${JSON.stringify(operations)}`,
        send("PATCH", target, operations, { "content-type": "application/json-patch+json" }),
      )
      for (const type of ["merge-patch+json", "strategic-merge-patch+json"])
        await checkFault(
          `${type} ${JSON.stringify(merge)}`,
          send("PATCH", target, merge, { "content-type": `application/${type}` }),
        )
    }
  })
})

describe("a request", () => {
  test("with any path, query and headers", async () => {
    const random = createRandom(seed)
    const steps = [
      "api",
      "apis",
      "v1",
      "namespaces",
      "default",
      "pods",
      "configmaps",
      "..",
      ".",
      "",
      "%2e%2e",
      "%00",
      "%ff",
      "watch",
      "proxy",
      "example.com",
      "things",
      "status",
      "scale",
      "log",
      "__proto__",
      "constructor",
      "openapi",
      "v3",
      "livez",
    ]
    const names = [
      "watch",
      "limit",
      "continue",
      "resourceVersion",
      "resourceVersionMatch",
      "labelSelector",
      "fieldSelector",
      "timeoutSeconds",
      "sendInitialEvents",
      "allowWatchBookmarks",
      "pretty",
      "includeObject",
      "dryRun",
      "fieldValidation",
      "fieldManager",
      "timeout",
      "gracePeriodSeconds",
      "propagationPolicy",
      "__proto__",
    ]
    const values = [
      ...oddTexts,
      "1",
      "true",
      "false",
      "999999999999999999999",
      "a in (b",
      "a=b,c!=d",
      "metadata.name=x",
      "a=\\",
      "Exact",
      "All",
      "Strict",
      "1h",
      "-1s",
      "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ4In0",
    ]
    for (let round = 0; round < rounds * 4; round++) {
      const path = `/${Array.from({ length: 1 + random(7) }, () => pick(random, steps)).join("/")}`
      const query = Array.from(
        { length: random(4) },
        () => `${pick(random, names)}=${encodeURIComponent(pick(random, values))}`,
      )
      // A watch that is accepted would otherwise stay open.
      const target = `${path}?${[...query, "timeoutSeconds=1"].join("&")}`
        .replace(/watch=[^&]*/, "watch=0")
        .replace("/watch/", "/")
      const method = pick(random, ["GET", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
      const headers = {
        accept: pick(random, [
          json,
          yaml,
          protobuf,
          "*/*",
          "a",
          ";;;,,,",
          `${json};as=Table;g=meta.k8s.io;v=v1`,
          `${protobuf};q=x`,
          "application/json;stream=watch",
        ]),
        "content-type": pick(random, [json, "x", "application/apply-patch+yaml", protobuf]),
        "if-none-match": pick(random, ["*", '"x"']),
        "user-agent": pick(random, ["", "curl/8", "x".repeat(500), "%%%"]),
      }
      const body = method === "GET" || method === "HEAD" ? undefined : pick(random, ["", "{}", "[]", "null"])
      await checkFault(`${method} ${target} ${JSON.stringify(headers)}`, send(method, target, body, headers))
    }
  })

  test("with more headers than fit is 431, and the connection ends", async () => {
    const flood = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`x-flood-${index}`, "y".repeat(50)]))
    // Node responds and closes the connection; a client that is still sending may see the close first.
    const code = await send("GET", "/api", undefined, flood).then(
      (answer) => answer.code,
      () => 431,
    )
    expect(code).toBe(431)
    expect((await send("GET", "/livez")).code).toBe(200)
  })
})

test("nothing of all that was an error of the server, and no prototype is polluted", async () => {
  expect(errors, `SEED=${seed}`).toEqual([])
  expect(({} as { a?: unknown; kind?: unknown; x?: unknown }).a).toBeUndefined()
  expect(Object.keys(Object.prototype)).toEqual([])
  expect((await send("GET", "/readyz")).code).toBe(200)
})
