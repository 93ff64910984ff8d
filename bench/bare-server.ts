// The least that a server on Node can cost, for bench/api.ts: HTTPS with a client certificate, without Kubernetes. A POST is
// parsed, written to a file and flushed; a GET returns what was posted to the path. Prints its address as one line of JSON.

import { mkdtemp, open, rm } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../gateway/pki/pki.ts"
import { endWithParent } from "./programs.ts"

const authority = await createAuthority("bare")
const serving = await issueServingCertificate(authority, ["127.0.0.1"])
const client = await issueClientCertificate(authority, { name: "bench", groups: [] })
const directory = await mkdtemp(join(tmpdir(), "polyplane-bare-"))
const file = await open(join(directory, "written"), "w")
const stored = new Map<string, Buffer>()

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let code = 200
  let body = stored.get(request.url ?? "")
  if (request.method === "POST") {
    const object = JSON.parse((await buffer(request)).toString()) as { metadata: { name: string } }
    body = Buffer.from(JSON.stringify(object))
    await file.write(body)
    await file.datasync()
    stored.set(`${request.url}/${object.metadata.name}`, body)
    code = 201
  }
  if (body === undefined) code = 404
  response.writeHead(code, ["content-type", "application/json", "content-length", String(body?.length ?? 0)])
  response.end(body)
}

const { certificate: cert, key } = serving
const server = createServer({ cert, key, ca: authority.certificate, requestCert: true }, (request, response) => {
  answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
})
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo
  const place = { url: `https://127.0.0.1:${port}/`, certificateAuthority: authority.certificate, ...client }
  process.stdout.write(`${JSON.stringify(place)}\n`)
})
endWithParent(() => rm(directory, { recursive: true }))
