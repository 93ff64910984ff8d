// Documents of discovery and OpenAPI as clients keep them: conditions, parts, encodings, and what tells one document from another.

import { expect, test } from "vitest"
import type { Connection } from "../connection.ts"
import { accept, answer, ask, type Case, normal, send } from "./header-cases.ts"
import type { Servers } from "../servers.ts"

function conditions(path: string): Case[] {
  const [past, future] = ["Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2065 07:28:00 GMT"]
  const range = "bytes=0-9"
  return [
    ask(412, path, { "if-match": '"none"' }),
    ask(412, path, { "if-match": '"none", W/"other"' }),
    ask(412, path, { "if-match": "none, *" }),
    ask(200, path, { "if-match": ", *" }),
    ask(412, path, { "if-unmodified-since": past }),
    ask(200, path, { "if-unmodified-since": future }),
    ask(200, path, { "if-unmodified-since": "never" }),
    ask(200, path, { "if-match": "*", "if-unmodified-since": past }),
    ask(304, path, { "if-none-match": '"none",*' }),
    ask(200, path, { "if-none-match": "none, *" }),
    ask(200, path, { "if-none-match": '"none"', "if-modified-since": future }),
    ask(304, path, { "if-modified-since": future }),
    ask(304, path, { "if-none-match": "", "if-modified-since": future }),
    ask(304, path, { "if-modified-since": "Wednesday, 21-Oct-65 07:28:00 GMT" }),
    ask(304, path, { "if-modified-since": "Wed Oct 21 07:28:00 2065" }),
    ask(200, path, { "if-modified-since": "2065-10-21T07:28:00Z" }),
    ask(200, path, { "if-modified-since": "Wed, 21 Oct 2065 07:28:00 +0000" }),
    ask(200, path, { "if-modified-since": past }),
    send(412, "POST", path, "", { "if-none-match": "*" }),
    send(200, "POST", path, "", { "if-modified-since": future }),
    ask(200, path, { range, "if-range": '"none"' }),
    ask(200, path, { range, "if-range": past }),
    ...["bytes=9-0", "bytes=0-0,9-8", "bytes=-", "bytes", "bytes=0-9223372036854775808"].map((range) =>
      ask(416, path, { range }),
    ),
    ...["bytes=", "bytes=,", "bytes=0-,0-"].map((range) => ask(200, path, { range })),
    ...[range, "bytes=-0", "bytes=0-0,", "bytes=0-0,99999999-"].map((one) => ask(206, path, { range: one })),
    ...["HEAD", "POST"].map((method) => ({ ...ask(206, path, { range }), method })),
    ask(416, path, { range: "bytes=99999999-" }),
    { ...ask(416, path, { range: "bytes=9-0" }), method: "HEAD" },
  ]
}

const aggregated = accept("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
const openAPI = ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"]
const encodings = ["gzip", "gzip;q=0.5", "gzip; q=0", "GZIP", "deflate, gzip;q=1.0, *;q=0.5", "deflate, br", "*"]

const cases: readonly Case[] = [
  ...openAPI.flatMap(conditions),
  ...encodings.map((encoding) => ask(200, "/openapi/v2", { "accept-encoding": encoding })),
  ...openAPI.map((path) => ({ ...ask(200, path, { "accept-encoding": "gzip" }), method: "HEAD" })),
  ask(200, "/apis", { ...aggregated, "if-none-match": "*" }),
  ask(200, "/apis", { ...aggregated, "if-match": '"none"' }),
]

const kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
/** The same kind in any group. */
const kindIn = (group: string) => ({
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
})

export function compareDocumentHeaders(servers: () => Servers): void {
  test.each(cases)("$code $method $path $headers", async (one) => {
    const [theirs, ours] = await Promise.all(
      [servers().kubernetes, servers().polyplane].map((server) => answer(server, one)),
    )
    expect([theirs?.code, ours?.code]).toEqual([one.code, one.code])
    expect(normal(ours?.headers ?? {}, false)).toEqual(normal(theirs?.headers ?? {}, false))
  })

  test.each(openAPI)("%s is answered in several parts", async (path) => {
    const answered = async (server: Connection, range: string) => {
      const { code, headers, body } = await answer(server, ask(206, path, { range }))
      const { "content-type": type = "", ...others } = normal(headers, false) as Record<string, string>
      const [, boundary = ""] = /^multipart\/byteranges; boundary=([0-9a-f]{60})$/.exec(type) ?? []
      const text = body
        .toString()
        .replaceAll(boundary || type, "<boundary>")
        .replaceAll(/\/\d+\r\n/g, "/<size>\r\n")
      const parts = text.replaceAll(/(\r\n\r\n)[^\r]+(?=\r\n--)/g, "$1<part>")
      return { code, others, parts, isWhole: Number(headers["content-length"]) === body.length }
    }
    for (const range of ["bytes=0-0,2-3", "bytes=4-5, 4-5, 1-1", "bytes=0-0,99999999-,1-2"]) {
      const theirs = await answered(servers().kubernetes, range)
      expect(theirs).toMatchObject({
        code: 206,
        isWhole: true,
        parts: expect.stringMatching(/^--<boundary>\r\n/) as string,
      })
      expect(await answered(servers().polyplane, range)).toEqual(theirs)
    }
  })

  test("the index of OpenAPI documents is always as new as the answer", async () => {
    for (const server of [servers().kubernetes, servers().polyplane]) {
      const since = (await answer(server, ask(0, "/openapi/v3"))).headers["last-modified"] ?? ""
      const later = async (): Promise<number> =>
        (await answer(server, ask(0, "/openapi/v3", { "if-modified-since": since }))).code
      await expect.poll(later, { timeout: 5000 }).toBe(200)
    }
  })

  test("OpenAPI version 2 has another ETag when a kind moves to another group", { timeout: 240_000 }, async () => {
    for (const server of [servers().kubernetes, servers().polyplane]) {
      const one = await etagWith(server, "one.example.com", "two.example.com")
      expect(await etagWith(server, "two.example.com", "one.example.com"), server.name).not.toBe(one)
    }
  })
}

/** Of the document with the kind in this group alone. */
async function etagWith(server: Connection, group: string, other: string): Promise<string | undefined> {
  const definition = kindIn(group)
  expect((await answer(server, send(201, "POST", kinds, JSON.stringify(definition)))).code).toBe(201)
  let etag: string | undefined
  const isDescribed = async (): Promise<boolean> => {
    const { headers, body } = await answer(server, ask(200, "/openapi/v2"))
    etag = headers.etag
    return body.includes(`/apis/${group}/`) && !body.includes(`/apis/${other}/`)
  }
  await expect.poll(isDescribed).toBe(true)
  await answer(server, send(200, "DELETE", `${kinds}/${definition.metadata.name}`, ""))
  return etag
}
