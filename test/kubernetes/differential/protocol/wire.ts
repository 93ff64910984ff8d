// Bytes on a connection: targets, framing and headers that clients of Node or Go would not send. Compared are the status, the text of
// what is no answer of the API, and whether the connection ends.

import { expect, test } from "vitest"
import type { Connection } from "../connection.ts"
import type { Servers } from "../servers.ts"

const head = "Host: @{host}\r\n@{credentials}"
const version = "@{path}/version"
const get = (target: string, more = ""): string => `GET ${target} HTTP/1.1\r\n${head}${more}\r\n`
const maps = "@{path}/api/v1/namespaces/default/configmaps?dryRun=All"
const map = '{"metadata":{"name":"a"}}'
const chunked = `${map.length.toString(16)}\r\n${map}\r\n0\r\n\r\n`
const post = (more: string, body: string): string =>
  `POST ${maps} HTTP/1.1\r\n${head}Content-Type: application/json\r\n${more}\r\n${body}`

const targets = [
  "http://@{host}@{path}/version",
  "https://other.example@{path}/version?a=%zz",
  "HTTP://other.example:80@{path}/version",
  "ftp://user:word@other.example@{path}/version",
  "http://@{host}",
  "http://@{host}?a=b",
  "http://h%41@{path}/version",
  "http://[::1]@{path}/version",
  "http://[::1@{path}/version",
  "http://a b@{path}/version",
  "other@{path}/version",
  "?a",
  "*",
  `${version}#a`,
  `${version}?a#b`,
  ...['v"', "v<&>", "v%3c", "v'", "v[1]", "v|^`{}", "v\\"].map((name) => `@{path}/api/${name}/watch`),
  "@{path}/api/v1/watch?a<b",
  ...["%zz", "%", "%4", "a%2", "a\tb", "a\x01b", "a b"].map((name) => `@{path}/api/v1/namespaces/${name}`),
]

const requests: Readonly<Record<string, string>> = {
  ...Object.fromEntries(targets.map((target) => [`GET ${target}`, get(target)])),
  ...Object.fromEntries(
    ["X-A", "X-A: a\0b", "X-A: a\x01b", "X@A: b", "X(A: b", ": b", "X-A: a\rb", "X-A: a\x7fb"].map((line) => [
      `the header ${JSON.stringify(line)}`,
      get(version, `${line}\r\n`),
    ]),
  ),
  "two hosts": get(version, "Host: b\r\n"),
  "no host": `GET ${version} HTTP/1.1\r\n@{credentials}\r\n`,
  "headers that are too long": get(version, `X-A: ${"a".repeat(1_100_000)}\r\n`),
  "a version that is none": `GET ${version} HTTP/1\r\n${head}\r\n`,
  "no version": `GET ${version}\r\n${head}\r\n`,
  "no request": "hello\r\n\r\n",
  ...Object.fromEntries(
    [
      "Accept: a/b\r\nAccept: application/json",
      "Accept: application/json\r\nAccept: a/b",
      "Accept:\r\nAccept: application/yaml",
      "Accept: a/b, application/json",
      "If-None-Match: a\r\nIf-None-Match: *",
      "Range: bytes=0-1\r\nRange: bytes=2-3",
      "Accept-Encoding: a\r\nAccept-Encoding: gzip",
    ].flatMap((lines) =>
      ["/openapi/v3", "/openapi/v2", "/version", "/api/v1/namespaces"].map((path) => [
        `${JSON.stringify(lines)} for ${path}`,
        get(`@{path}${path}`, `${lines}\r\n`),
      ]),
    ),
  ),
  ...Object.fromEntries(
    ["Audit-ID: a\r\nAudit-ID: b", "Audit-ID: a, b", 'If-Match: "a"\r\nIf-Match: *', "Trailer: Content-Length"].map(
      (lines) => [JSON.stringify(lines), get("@{path}/openapi/v2", `${lines}\r\n`)],
    ),
  ),
  "an announcement of a length": post("Transfer-Encoding: chunked\r\nTrailer: X-A, content-length\r\n", chunked),
  "an announcement of another header": post("Transfer-Encoding: chunked\r\nTrailer: X-A\r\n", chunked),
  "an expectation": post(`Expect: 100-continue\r\nContent-Length: ${map.length}\r\n`, map),
  "another expectation": post(`Expect: 200-ok\r\nContent-Length: ${map.length}\r\n`, map),
  "an empty expectation": post(`Expect:\r\nContent-Length: ${map.length}\r\n`, map),
  "a body and an upgrade": post(`Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${map.length}\r\n`, map),
  "chunks and an upgrade": post("Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n", chunked),
  chunks: post("Transfer-Encoding: chunked\r\n", chunked),
  "chunks in capitals": post("Transfer-Encoding: CHUNKED\r\n", chunked),
  "another coding": post("Transfer-Encoding: gzip\r\n", map),
  "another coding, in chunks": post("Transfer-Encoding: gzip, chunked\r\n", chunked),
  ...Object.fromEntries(
    ["-5", "+5", "a", "", "99999999999999999999", "5, 5"].map((length) => [
      `the length ${JSON.stringify(length)}`,
      post(`Content-Length: ${length}\r\n`, map),
    ]),
  ),
}

/** Node drops what it has read behind the body of such a request: there our connection ends (gateway/connections/one-at-a-time.ts). */
const offersUpgrade = (name: string): boolean => name.endsWith("an upgrade")

export function compareWire(servers: () => Servers): void {
  test.concurrent.each(Object.entries(requests))("%s is answered alike", async (name, text) => {
    const [theirs, ours] = await Promise.all([answer(servers().kubernetes, text), answer(servers().polyplane, text)])
    expect(ours).toEqual(offersUpgrade(name) ? { ...theirs, closes: true, isClosed: true } : theirs)
  })
}

interface Answered {
  codes: string[]
  type: string | undefined
  closes: boolean
  isClosed: boolean
  /** Of a request that has one. */
  id: string | undefined
  /** Of an error of HTTP itself. */
  fault: string | undefined
}

async function answer(server: Connection, request: string): Promise<Answered> {
  const { text, isClosed } = await server.raw(request)
  const codes = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code = ""]) => code)
  const [first = "", body = ""] = text.split("\r\n\r\n").slice(codes[0] === "100" ? 1 : 0)
  const type = /^content-type: (.*?)\r?$/im.exec(first)?.[1]
  const id = request.includes("Audit-ID") ? /^audit-id: (.*?)\r?$/im.exec(first)?.[1] : undefined
  const closes = /^connection: close\r?$/im.test(first)
  const isFault = Number(codes.at(-1)) >= 400 && type?.startsWith("text/plain") === true
  return { codes, type, closes, isClosed, id, fault: isFault ? body : undefined }
}
