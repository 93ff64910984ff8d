// Requests that are forwarded to the server of an aggregated API.

import type { Connection } from "../connection.ts"
import { type Place, runSteps } from "../run.ts"
import { get, mergePatch, patch, remove, type RequestStep } from "../scenario.ts"
import { lateVersion, ways } from "./answering-server.ts"
import { apiServices, group, registered, service, unregistered } from "./registered.ts"

interface Case {
  name: string
  /** `port`: the server's. */
  steps: (port: number) => RequestStep[]
}

export function proxied(): Case[] {
  return [
    { name: "a server answers in every way", steps: (port) => within(port, ways.map(asked)) },
    { name: "a server is late with its discovery", steps: late },
    { name: "a server loses its Service", steps: lost },
    { name: "a server is called with other authorities", steps: authorities },
    { name: "a server is sent a request", steps: (port) => within(port, sent()) },
  ]
}

const root = `/apis/${group}/v1`

const asked = (way: string): RequestStep => get(`${root}/${way}`)

function within(port: number, steps: readonly RequestStep[]): RequestStep[] {
  return [
    service(),
    registered("v1", port),
    get(root, { untilCode: 200 }),
    ...steps,
    unregistered("v1"),
    get(root, { untilCode: 404, label: "GET when removed" }),
  ]
}

function sent(): RequestStep[] {
  const echo = `${root}/echo`
  const headers = {
    accept: "application/x, */*;q=0.1",
    "accept-encoding": "br",
    "x-forwarded-for": "192.0.2.1",
    "x-forwarded-host": "a.example.com",
    "x-forwarded-proto": "http",
    "x-forwarded-uri": "/a",
    "x-remote-user": "eve",
    "x-remote-group": "system:masters",
    "x-remote-extra-a": "b",
    "x-remote-other": "c",
    forwarded: "for=a",
    via: "1.1 a",
    te: "trailers",
    cookie: "a=b",
    "proxy-authorization": "Basic YTpi",
    "if-none-match": '"a"',
    range: "bytes=0-1",
    origin: "https://example.com",
    expect: "",
  }
  const { expect: _, ...plain } = headers
  return [
    get(echo),
    get(echo, { headers: plain, label: "GET with headers" }),
    ...["POST", "PUT", "PATCH", "DELETE"].flatMap((method) => [
      { method, path: echo, body: { a: "b" }, label: `${method} with a body` },
      { method, path: echo, label: `${method} without a body` },
    ]),
    ...["HEAD", "OPTIONS", "TRACE"].map((method) => ({ method, path: echo })),
    ...[
      "?a=b&a=c&d",
      "?b=1&a=2",
      "?a=%zz",
      "?a;b",
      "?",
      "?a=%2F+%20",
      "/%2f",
      "//",
      "/a//b",
      "/a/../b",
      "/%61;b",
      "/ä",
      "/",
    ].map((end) => get(`${echo}${encodeURI(end).replaceAll("%25", "%")}`)),
    get(echo, { as: { name: "jane", groups: ["readers", "system:masters"] }, label: "GET as somebody" }),
    get(echo, {
      headers: {
        "impersonate-user": "jane",
        "impersonate-uid": "u",
        "impersonate-group": "system:masters",
        "impersonate-extra-a.b%2fC": "d",
        "impersonate-extra-scopes": "x",
      },
      label: "GET as somebody with a uid",
    }),
  ]
}

function late(port: number): RequestStep[] {
  return [
    service(),
    registered(lateVersion, port),
    get(`${apiServices}/${lateVersion}.${group}`, { untilText: "all checks passed", label: "GET until available" }),
    get(`/apis/${group}/${lateVersion}`),
    unregistered(lateVersion),
  ]
}

function lost(port: number): RequestStep[] {
  return within(port, [
    remove("/api/v1/namespaces/@{ns}/services/external"),
    get(`${root}/echo`, { untilCode: 503 }),
    get(`${apiServices}/v1.${group}`, { untilText: "ServiceNotFound", label: "GET until lost" }),
    get(`${root}/echo`),
  ])
}

/** What a server is trusted for changes while it is available. */
function authorities(port: number): RequestStep[] {
  const trusting = (what: string, bundle: string): RequestStep =>
    patch(
      `${apiServices}/v1.${group}`,
      mergePatch,
      { spec: { insecureSkipTLSVerify: false, caBundle: Buffer.from(bundle).toString("base64") } },
      { label: `WRITE bundle ${what}` },
    )
  const block = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`
  return within(port, [
    trusting("of words", "words"),
    get(`${root}/things`, { untilCode: 500, label: "GET with words" }),
    trusting("of a key", block("PRIVATE KEY")),
    get(`${root}/things`, { untilText: "seen", label: "GET with a key" }),
    trusting("of a malformed one", `words\n${block("CERTIFICATE")}words`),
    get(`${root}/things`, { untilText: "malformed", label: "GET with a malformed one" }),
    trusting("of one in a line of words", `words ${block("CERTIFICATE")}`),
    get(`${root}/things`, { untilText: "parse bytes", label: "GET with one in a line" }),
    patch(`${apiServices}/v1.${group}`, mergePatch, { spec: { insecureSkipTLSVerify: true, caBundle: null } }),
    get(`${root}/echo`, { untilCode: 200, label: "GET without" }),
  ])
}

/** What is answered to a request for an upgrade. A tenant's connection always ends then; kube-apiserver keeps some. */
export async function upgraded(server: Connection, place: Place, port: number, way: string): Promise<unknown> {
  const name = "an upgrade"
  const head = `@{path}/apis/${place.id}.example.com/v1/${way} HTTP/1.1\r\nHost: @{host}\r\n@{credentials}`
  const before = await runSteps(
    server,
    { name, steps: [service(), registered("v1", port), get(root, { untilCode: 200 })] },
    place,
  )
  before.close()
  const { text } = await server.raw(`GET ${head}Connection: Upgrade\r\nUpgrade: words\r\n\r\n`)
  const last = await runSteps(server, { name, steps: [unregistered("v1")] }, place)
  last.close()
  const [lines = "", body] = text.split("\r\n\r\n")
  const told = lines
    .split("\r\n")
    .filter((line) => !/^(?:date|audit-id|x-kubernetes-pf-|connection: close)/i.test(line))
  return { head: told.map((line) => line.toLowerCase()).toSorted(), body }
}
