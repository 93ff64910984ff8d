// A read-only image registry that serves an OCI layout in place of any registry. It is also process 1 of the fabric (fabric.sh),
// so all nodes end with it. containerd passes the name of the requested registry in ?ns=.
//
//   registry.ts LAYOUT PORT [--while-stdin]     --while-stdin: ends when its standard input is closed, thus with its parent

import { createReadStream } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import path from "node:path"

interface Index {
  manifests: { digest: string; annotations: Record<string, string> }[]
}

const imageNameAnnotation = "io.containerd.image.name"
const digestPattern = /^sha256:[0-9a-f]{64}$/
const pathPattern = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/

async function createRegistry(layout: string): Promise<ReturnType<typeof createServer>> {
  const { manifests } = JSON.parse(await readFile(path.join(layout, "index.json"), "utf8")) as Index
  const digests = new Map(manifests.map(({ digest, annotations }) => [annotations[imageNameAnnotation] ?? "", digest]))
  return createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${request.url ?? ""}: ${String(error)}\n`)
      response.destroy()
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://registry")
    if (url.pathname === "/v2/" || url.pathname === "/v2") return void response.end("{}")
    const [, repository = "", kind = "", reference = ""] = pathPattern.exec(url.pathname) ?? []
    const name = `${url.searchParams.get("ns") ?? ""}/${repository}:${reference}`
    const digest = reference.includes(":") ? reference : (digests.get(name) ?? "")
    const file = path.join(layout, "blobs", digest.replace(":", "/"))
    const size = digestPattern.test(digest) ? await sizeOf(file) : undefined
    if (size === undefined) {
      // Responds at once: otherwise a pod with an unknown image would wait for an unreachable network.
      response.writeHead(404, { "content-type": "application/json" })
      return void response.end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"no such image here"}]}')
    }
    const type = kind === "manifests" ? "application/vnd.oci.image.manifest.v1+json" : "application/octet-stream"
    response.writeHead(200, { "content-type": type, "content-length": size, "docker-content-digest": digest })
    if (request.method === "HEAD") return void response.end()
    createReadStream(file)
      .on("error", () => response.destroy())
      .pipe(response)
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

if (import.meta.main) {
  const [layout = "", port = "", flag] = process.argv.slice(2)
  if (flag === "--while-stdin") process.stdin.resume().on("close", () => process.exit())
  // Process 1 of a pid namespace only receives signals for which it has a handler.
  process.on("SIGTERM", () => process.exit())
  const registry = await createRegistry(layout)
  registry.listen(Number(port))
}
