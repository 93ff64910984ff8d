// Watches over WebSockets, as browsers ask for them: which are refused, and what comes over the others.

import { beforeAll, expect, test } from "vitest"
import type { Heard } from "../connection.ts"
import type { Servers } from "../servers.ts"

const maps = "/api/v1/namespaces/web-sockets/configmaps"
const watch = `${maps}?watch=1&timeoutSeconds=1`
const origin = { origin: "https://example.com" }
const protobuf = "application/vnd.kubernetes.protobuf;stream=watch"
const table = "application/json;as=Table;v=v1;g=meta.k8s.io"

const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/** The status, the version and the body of an answer. */
function said(text = ""): unknown[] {
  const [head = "", body] = text.split("\r\n\r\n")
  return [head.split("\r\n")[0], /^sec-websocket-version: .*$/im.exec(head)?.[0].toLowerCase().trim(), body]
}

type Case = [path: string, protocols?: string[], headers?: Record<string, string>]

const heard: readonly Case[] = [
  [watch, [], origin],
  [watch, ["binary.k8s.io"], origin],
  [watch, ["base64.binary.k8s.io"], origin],
  [watch, ["anything"], origin],
  [`${watch}&fieldSelector=metadata.name%3Dabsent`, [], origin],
  [`/api/v1/watch/namespaces/web-sockets/configmaps/a?timeoutSeconds=1`, [], origin],
  [watch, [], { ...origin, accept: protobuf }],
  [watch, [], { ...origin, accept: table }],
]
const refused: readonly [...Required<Case>, code: number][] = [
  [watch, [], {}, 403],
  [watch, [], { origin: "null" }, 403],
  [watch, ["a", "b"], origin, 400],
  [watch, ["a", "b"], {}, 403],
  [`${maps}?watch=1&resourceVersion=x`, [], {}, 500],
  [`${maps}?watch=1&fieldSelector=x`, [], {}, 400],
]

export function compareWebSockets(servers: () => Servers): void {
  beforeAll(async () => {
    for (const server of [servers().kubernetes, servers().polyplane]) {
      const headers = { "content-type": "application/json" }
      const make = (path: string, name: string) =>
        server.call("POST", path, { headers, body: JSON.stringify({ metadata: { name } }) })
      await make("/api/v1/namespaces", "web-sockets")
      expect(await make(maps, "a")).toMatchObject({ code: 201 })
    }
  })

  const hear = ([path, protocols = [], headers = {}]: Case): Promise<Heard[]> =>
    Promise.all([servers().kubernetes, servers().polyplane].map((server) => server.hear(path, protocols, headers)))

  test.each(heard.map((one) => [one]))("hears the same: %j", async (one) => {
    const [theirs, ours] = await hear(one)
    expect(theirs).toHaveProperty("messages")
    expect(comparable(ours)).toEqual(comparable(theirs))
  })

  test.each(refused)("%s as %j from %j is refused: %i", async (path, protocols, headers, code) => {
    expect(await hear([path, protocols, headers])).toEqual([{ refused: code }, { refused: code }])
  })

  test.each(["", "Sec-WebSocket-Version: 13\r\n", `${key}Sec-WebSocket-Version: 8\r\n`, key])(
    "with %j it is no handshake",
    async (lines) => {
      const head = `Host: @{host}\r\n@{credentials}Connection: Upgrade\r\nUpgrade: websocket\r\n${lines}`
      const [theirs, ours] = await Promise.all(
        [servers().kubernetes, servers().polyplane].map((server) =>
          server.raw(`GET @{path}${watch} HTTP/1.1\r\n${head}\r\n`),
        ),
      )
      expect(theirs?.text).toMatch(/^HTTP\/1\.1 400 /)
      expect(said(ours?.text)).toEqual(said(theirs?.text))
    },
  )
}

/** Of JSON the objects, without what is each server's own; of protobuf where the message begins, and its event's type. */
function comparable(heard: Heard | undefined): unknown {
  if (heard === undefined || "refused" in heard) return heard
  const messages = heard.messages.map(({ isBinary, data }) => ({
    isBinary,
    event: isBinary
      ? data
          .subarray(0, 9)
          .toString("latin1")
          .replace(/[^A-Z]/g, " ")
      : outline(data.toString()),
  }))
  return { ...heard, messages }
}

function outline(text: string): unknown {
  const { type, object } = JSON.parse(text) as { type: string; object: { kind: string; metadata: { name?: string } } }
  return { type, kind: object.kind, name: object.metadata.name, isLine: text.endsWith("\n") }
}
