// A registry of images, read only, out of an OCI layout: it stands in for every registry there is. Also process 1 of the fabric
// (fabric.sh), so all nodes end when it ends. containerd says in ?ns= which registry it asks for.
//
//   registry.ts LAYOUT PORT [--while-stdin]     the last: ends when its standard input does, with whoever started it

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

export async function createRegistry(layout: string): Promise<ReturnType<typeof createServer>> {
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
      // At once: a pod whose image does not exist would otherwise wait for a network that is not there.
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
  // Process 1 of a pid namespace gets no signal it has no handler for.
  process.on("SIGTERM", () => process.exit())
  const registry = await createRegistry(layout)
  registry.listen(Number(port))
}
