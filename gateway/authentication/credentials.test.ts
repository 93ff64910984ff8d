import type { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import { describe, expect, test } from "vitest"
import { bearerToken, connectionCertificates, credentialsOf } from "./credentials.ts"

/** On a connection of its own with that client certificate. */
const requestWith = (raw: Buffer): IncomingMessage =>
  ({
    socket: Object.create(TLSSocket.prototype, { getPeerX509Certificate: { value: () => ({ raw }) } }) as TLSSocket,
  }) as Partial<IncomingMessage> as IncomingMessage

test("the parsed form of a certificate is shared by connections unless it is large", () => {
  for (const [bytes, isShared] of [
    [1024, true],
    [100_000, false],
  ] as const) {
    const [one, other] = [Buffer.alloc(bytes), Buffer.alloc(bytes)].map((raw) =>
      connectionCertificates(requestWith(raw)),
    )
    expect(other?.chain).toEqual(one?.chain)
    expect(other === one).toBe(isShared)
  }
})

test.each<[string, ReturnType<typeof bearerToken>]>([
  ["Bearer a", { token: "a" }],
  ["  bEARER a  ", { token: "a" }],
  ["Bearer a b", { token: "a" }],
  ["Bearer  a", { warning: expect.stringContaining("extra space") as string }],
  ["Bearer", {}],
  ["Basic a", {}],
])("bearerToken() of %j", (header, read) => {
  expect(bearerToken(header)).toEqual(read)
})

describe("the token of a WebSocket", () => {
  const prefix = "base64url.bearer.authorization.k8s.io."
  const handshake = (protocols: string, headers: object = {}): IncomingMessage =>
    ({
      socket: {},
      headers: { upgrade: "WebSocket", connection: "Upgrade", "sec-websocket-protocol": protocols, ...headers },
    }) as IncomingMessage

  test.each<[string, string, object, string | undefined]>([
    ["is one of its protocols", `${prefix}YQ, v4`, {}, "a"],
    ["is used beside other credentials than tokens", `v4,${prefix}YQ`, { authorization: "Basic x" }, "a"],
    ["is ignored without a handshake", `${prefix}YQ, v4`, { upgrade: "SPDY/3.1" }, undefined],
    ["is none if it is empty", prefix, {}, undefined],
  ])("%s", (_what, protocols, headers, token) => {
    const request = handshake(protocols, headers)
    expect(credentialsOf(request).bearerToken).toBe(token)
    expect(request.headers["sec-websocket-protocol"]).toBe(token === undefined ? protocols : "v4")
  })

  test.each([
    ["twice", `${prefix}YQ, ${prefix}YQ, v4`],
    ["without another protocol", `${prefix}YQ`],
    ["in another encoding", `${prefix}YQ==, v4`],
    ["that is no text", `${prefix}_w, v4`],
  ])("%s is rejected", (_what, protocols) => {
    expect(() => credentialsOf(handshake(protocols))).toThrow("Unauthorized")
  })
})
