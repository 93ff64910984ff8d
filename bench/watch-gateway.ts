// The gateway of bench/watch.ts as a separate process: several tenants with only their APIs. Prints their addresses, a line of
// JSON each; on SIGUSR2, the delay of events within the gateway: from reading the head of a write to handing its event to a
// watch's connection.
//   node bench/watch-gateway.ts tenants [http2]

// As in production.
import "../cli/runtime/runtime.mjs"
import { channel } from "node:diagnostics_channel"
import { type IncomingMessage, ServerResponse } from "node:http"
import { startTestGateway } from "../gateway/testing/start-gateway.ts"
import { endWithParent, readParentLine } from "./programs.ts"
import { quantile } from "./report.ts"

const count = Number(process.argv[2])
/** Number of concurrent creations. */
const parallel = 8

/** When writes were read, by tenant (the prefix of its URLs) and number: each tenant's writes are sequential. */
const readAt = new Map<string, number[]>()
let took: number[] = []

const tenantOf = (url = ""): string => url.slice(0, url.indexOf("/api/"))

channel("http.server.request.start").subscribe((message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.method !== "PUT") return
  const times = readAt.get(tenantOf(request.url)) ?? [0]
  readAt.set(tenantOf(request.url), times)
  times.push(performance.now())
})

const write = Reflect.get(ServerResponse.prototype, "write") as (...of: unknown[]) => boolean
ServerResponse.prototype.write = function (this: ServerResponse, chunk: unknown, ...more: unknown[]): boolean {
  const times = readAt.get(tenantOf(this.req.url))
  if (times !== undefined && Buffer.isBuffer(chunk)) {
    const now = performance.now()
    for (const [, seq] of chunk.toString("latin1").matchAll(/"seq":"(\d+)"/g)) {
      const at = times[Number(seq)] ?? 0
      if (at > 0) took.push(now - at)
    }
  }
  return Reflect.apply(write, this, [chunk, ...more])
}

process.on("SIGUSR2", () => {
  process.stdout.write(`${JSON.stringify({ p50: quantile(took, 0.5), p99: quantile(took, 0.99) })}\n`)
  took = []
})

const gateway = await startTestGateway({ superCluster: false, http2: process.argv[3] === "http2" })
endWithParent(() => gateway[Symbol.asyncDispose]())
const { certificateAuthority } = gateway.gateway
// The parent tells when to continue.
process.stdout.write("{}\n")
await readParentLine()

const indexes = Array.from({ length: count }, (_, index) => index).values()
async function make(): Promise<void> {
  for (const index of indexes) {
    const { url, certificate, key } = await gateway.createTenant(`tenant-${index}`, { controllers: false })
    process.stdout.write(`${JSON.stringify({ url, certificate, key, certificateAuthority })}\n`)
  }
}
await Promise.all(Array.from({ length: parallel }, make))
