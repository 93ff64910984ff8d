// How JSON answers are written: their strings and numbers, byte by byte. What they mean is compared by other suites; the order of fields has
// no meaning.

import { beforeAll, expect, test } from "vitest"
import type { Connection } from "../connection.ts"
import type { Servers } from "../servers.ts"

const namespace = "json-bytes"
const maps = `/api/v1/namespaces/${namespace}/configmaps`
const oddText = 'a<b>&c\u2028d\u2029e\b\f\n\r\t\v"\\/\u007f\u0001\u{1F600}é\ufffd'
const map = {
  metadata: { name: "odd", namespace, annotations: { "example.com/odd": oddText } },
  data: { odd: oddText, plain: "x" },
}
const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`

interface Request {
  method: string
  path: string
  accept: string
  body?: object
}

const requests: readonly Partial<Request>[] = [
  { path: `${maps}/odd` },
  { path: `${maps}/odd?pretty=true` },
  { path: `${maps}?fieldSelector=metadata.name%3Dodd` },
  { path: `${maps}?fieldSelector=metadata.name%3Dodd&pretty=true` },
  { path: `${maps}?fieldSelector=metadata.name%3Dodd&watch=true&timeoutSeconds=1` },
  { path: `${maps}/odd`, accept: as("Table") },
  { path: `${maps}/odd`, accept: as("PartialObjectMetadata") },
  { path: `${maps}?fieldSelector=metadata.name%3Dodd`, accept: as("PartialObjectMetadataList") },
  { path: `${maps}/a%3Cb%3E&` },
  { method: "POST", path: `${maps}?dryRun=All`, body: { metadata: { name: "<a>&" } } },
  { method: "POST", path: `${maps}?dryRun=All`, body: { metadata: { name: "dry" }, data: map.data } },
  { method: "PATCH", path: `${maps}/odd`, body: { data: { more: "<&>" } } },
  { path: `${maps}/odd` },
  { path: "/openapi/v3/apis/coordination.k8s.io/v1" },
  { path: "/openapi/v3" },
  { path: "/apis" },
  { method: "DELETE", path: `${maps}/odd` },
]

/** Strings, numbers and words of a text, without what differs from server to server. */
function tokensOf(text: string): string[] {
  const masked = text
    .replaceAll(/("resourceVersion": ?)"\d*"/g, '$1"N"')
    .replaceAll(/("uid": ?)"[0-9a-f-]{36}"/g, '$1"U"')
    .replaceAll(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"T"')
    .replaceAll(/"description":"(?:[^"\\]|\\.)*"(?=,"priority")/g, "") // of columns: a known difference
    .replaceAll(/"\d+m?s"/g, '"age"')
    .replaceAll(/\?hash=[0-9A-F]+/g, "")
  return (masked.match(/"(?:[^"\\]|\\.)*"|[-\w.]+/g) ?? []).toSorted()
}

export function compareJsonBytes(servers: () => Servers): void {
  beforeAll(async () => {
    const headers = { "content-type": "application/json" }
    for (const server of [servers().kubernetes, servers().polyplane]) {
      await server.call("POST", "/api/v1/namespaces", {
        headers,
        body: JSON.stringify({ metadata: { name: namespace } }),
      })
      const { code } = await server.call("POST", maps, { headers, body: JSON.stringify(map) })
      expect(code).toBe(201)
    }
  })

  const all = requests.map((request): Request => ({ method: "GET", path: "/", accept: "application/json", ...request }))
  test.each(all)("$method $path as $accept", async ({ method, path, accept, body }) => {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json"
    const ask = async (server: Connection): Promise<string[]> => {
      const headers = { "content-type": contentType, accept }
      return tokensOf(
        (await server.call(method, path, { headers, body: body && JSON.stringify(body) })).body.toString(),
      )
    }
    expect(await ask(servers().polyplane)).toEqual(await ask(servers().kubernetes))
  })

  test("the OpenAPI document of version 2 has other escapes", async () => {
    for (const server of [servers().kubernetes, servers().polyplane]) {
      const { body } = await server.call("GET", "/openapi/v2")
      expect(body.includes("<") && !body.includes("\\u003c"), server.name).toBe(true)
    }
  })
}
