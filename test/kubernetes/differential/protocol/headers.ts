// Every header of every class of answer, but for those that differ by what a server is. Scenarios compare a chosen few of each
// answer; here nothing is left out that is not named. And what a server tells of itself, to whom.

import { expect, test } from "vitest"
import { accept, again, anonymous, answer, ask, type Case, normal, send } from "./header-cases.ts"
import { alike, leftOut } from "./introspection.ts"
import type { Servers } from "../servers.ts"

const maps = "/api/v1/namespaces/headers/configmaps"
const map = (name: string, more = ""): string => `{"metadata":{"name":"${name}"${more}}}`
const zPage = (kind: string, version = "v1beta1", format = "json"): string =>
  `application/${format};as=${kind};v=${version};g=config.k8s.io`

const aggregated = accept("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
const openAPIGroup = "/openapi/v3/apis/apps/v1"

/** In order: later ones need earlier ones. */
const cases: readonly Case[] = [
  send(201, "POST", "/api/v1/namespaces", map("headers")),
  send(201, "POST", maps, map("a")),
  send(409, "POST", maps, map("a")),
  send(400, "POST", maps, "{"),
  send(415, "POST", maps, "a", { "content-type": "text/plain" }),
  send(422, "POST", maps, map("Not_A_Name")),
  send(409, "PUT", `${maps}/a`, map("a", ',"resourceVersion":"1"')),
  send(200, "PUT", `${maps}/a`, map("a")),
  send(200, "PATCH", `${maps}/a`, "{}", { "content-type": "application/merge-patch+json" }),
  send(415, "PATCH", `${maps}/a`, "{}", { "content-type": "text/plain" }),
  send(405, "PUT", maps, map("a")),
  ask(200, `${maps}/a`),
  ask(200, maps),
  ask(200, maps, accept("application/json;as=Table;v=v1;g=meta.k8s.io")),
  ask(200, maps, accept("application/vnd.kubernetes.protobuf")),
  ask(200, maps, accept("application/yaml")),
  ask(200, "/api/v1/endpoints"), // with a warning
  ask(200, `${maps}?watch=true&timeoutSeconds=1`),
  ask(200, `${maps}?watch=true&timeoutSeconds=1&resourceVersion=1`), // 410 in the stream
  ask(404, `${maps}/absent`),
  ask(406, maps, accept("text/html")),
  ask(403, maps, { "impersonate-user": "nobody" }),
  ask(400, maps, { "impersonate-group": "nobody" }),
  ask(400, `${maps}?timeout=x`),
  ask(504, `${maps}?timeout=1ns`),
  anonymous(403, maps),
  anonymous(401, maps, { authorization: "Bearer none" }),
  anonymous(403, maps, { authorization: "Bearer  none" }), // with a warning
  send(200, "DELETE", `${maps}/a`, ""),
  ...["/healthz", "/livez?verbose", "/readyz", "/healthz/ping", "/livez/etcd"].map((path) => ask(200, path)),
  ask(404, "/healthz/none"),
  anonymous(200, "/healthz"),
  ask(200, "/metrics"),
  ask(200, "/metrics/slis"),
  anonymous(403, "/metrics"),
  ...["/metrics", "/metrics/slis"].map((path) => send(200, "DELETE", path, "")),
  { ...anonymous(403, "/metrics"), method: "DELETE" },
  ...["Statusz", "Flagz"].flatMap((kind) => {
    const path = `/${kind.toLowerCase()}`
    return [
      ...[
        "",
        "text/plain",
        "*/*",
        "text/*;q=0.1",
        zPage(kind),
        zPage(kind, "v1alpha1"),
        zPage(kind, "v1beta1", "yaml"),
      ].map((type) => ask(200, path, type === "" ? {} : accept(type))),
      ...[
        "application/json",
        "application/yaml",
        "text/html",
        zPage(kind, "v9"),
        zPage("Pod"),
        `${zPage(kind)};sv=v1`,
      ].map((type) => ask(406, path, accept(type))),
      anonymous(403, path),
    ]
  }),
  ask(200, "/version"),
  anonymous(200, "/version"),
  ask(200, "/version//"),
  send(405, "POST", "/version//", ""),
  ask(200, "/"),
  ask(404, "/none"),
  ask(200, "/api"),
  ask(200, "/apis"),
  ask(200, "/apis/apps"),
  ask(200, "/apis/apps/v1"),
  ask(200, "/apis", aggregated),
  again("/apis", aggregated),
  ask(406, "/apis", accept("text/html")),
  // A body is not expected, but if there is one its type is looked at.
  ...["/version", "/api", "/api/v1", "/apis/apps/v1"].flatMap((path) => [
    ...["text/plain", "*/*", "application/*"].map((type) => ask(415, path, { "content-type": type })),
    ...["", "application/json;x", "x, application/json"].map((type) => ask(200, path, { "content-type": type })),
    ask(415, path, { ...accept("text/html"), "content-type": "text/plain" }),
  ]),
  ask(415, "/version", { "content-type": "application/yaml" }),
  ask(200, "/api", { "content-type": "application/yaml" }),
  ...["/apis", "/apis/apps", "/openapi/v3", "/healthz"].map((path) => ask(200, path, { "content-type": "text/plain" })),
  ask(200, "/openapi/v2"),
  again("/openapi/v2"),
  ask(200, "/openapi/v3"),
  ask(200, openAPIGroup),
  again(openAPIGroup),
  ask(404, "/openapi/v3/apis/none/v1"),
  ask(200, "/.well-known/openid-configuration"),
  ask(200, "/openid/v1/jwks"),
  ...["gzip", "gzip;q=0.5", "deflate, gzip;q=1.0, *;q=0.5"].flatMap((encoding) =>
    ["/metrics", "/metrics/slis"].map((path) => ask(200, path, { "accept-encoding": encoding })),
  ),
  ...["deflate", "*"].map((encoding) => ask(200, "/metrics", { "accept-encoding": encoding })),
]

const text: unknown = expect.any(String)

export function compareHeaders(servers: () => Servers): void {
  test.each(cases)("$code $method $path", async (one) => {
    const [theirs, ours] = await Promise.all(
      [servers().kubernetes, servers().polyplane].map((server) => answer(server, one)),
    )
    expect([theirs?.code, ours?.code]).toEqual([one.code, one.code])
    expect(normal(ours?.headers ?? {}, false)).toEqual(normal(theirs?.headers ?? {}, one.isAnonymous === true))
  })

  test.each(["mine", "a b", 'a/b:c,"d"', "\xe4", "x".repeat(300)])(
    "the id %j of a request is its answer's",
    async (id) => {
      const answers = await Promise.all(
        [servers().kubernetes, servers().polyplane].map((server) =>
          answer(server, ask(200, "/version", { "audit-id": id })),
        ),
      )
      expect(answers.map(({ headers }) => headers["audit-id"])).toEqual([id, id])
    },
  )

  test("both say in the same form what they are", async () => {
    const headers = accept(zPage("Statusz"))
    const [theirs, ours] = (await said(servers(), ask(0, "/statusz", headers))).map(
      ({ text }) => JSON.parse(text) as object,
    )
    const own = { startTime: text, uptimeSeconds: expect.any(Number), goVersion: text, binaryVersion: text }
    expect(ours).toEqual({ ...theirs, ...own })
  })

  test.each(alike)("GET %s is answered alike", async (path) => {
    const [theirs, ours] = await said(servers(), ask(0, path))
    expect(ours).toEqual(theirs)
  })

  test.each(Object.keys(leftOut))("GET %s tells of kube-apiserver alone", async (path) => {
    const [theirs, ours] = await said(servers(), ask(0, path))
    expect([theirs?.code, ours?.code]).toEqual([200, 404])
  })

  test.each([...alike, ...Object.keys(leftOut)])("GET %s tells strangers no more", async (path) => {
    const [theirs, ours] = await said(servers(), anonymous(0, path))
    expect(ours).toEqual(theirs)
  })
}

async function said({ kubernetes, polyplane }: Servers, one: Case): Promise<{ code: number; text: string }[]> {
  const answers = await Promise.all([kubernetes, polyplane].map((server) => answer(server, one)))
  return answers.map(({ code, body }) => ({ code, text: body.toString() }))
}
