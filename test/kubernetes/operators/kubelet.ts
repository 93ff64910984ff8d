// What metrics-server asks a kubelet for, of one pod that began a while ago: enough for a rate at the first look.

import { once } from "node:events"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { createAuthority, issueServingCertificate } from "../../../gateway/pki/pki.ts"

const runningSeconds = 20
/** A little less than a quarter of a processor for as long: times are not exact, and a little more would be rounded up. */
const usedSeconds = runningSeconds / 4 - 0.001
const series = `namespace="default",pod="measured",container="measured"`

export interface Kubelet extends AsyncDisposable {
  port: number
}

/** A quarter of a processor, and 64 MiB. */
function metrics(now: number): string {
  const lines = {
    [`container_cpu_usage_seconds_total{${series}}`]: usedSeconds,
    [`container_memory_working_set_bytes{${series}}`]: 64 * 1024 * 1024,
    [`container_start_time_seconds{${series}}`]: now / 1000 - runningSeconds,
    node_cpu_usage_seconds_total: 100,
    node_memory_working_set_bytes: 1024 ** 3,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name} ${value} ${name.includes("start") ? "" : now}\n`)
    .join("")
}

export async function startKubelet(): Promise<Kubelet> {
  const { certificate, key } = await issueServingCertificate(await createAuthority("kubelet"), ["127.0.0.1"])
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const isKnown = request.url === "/metrics/resource" && request.headers.authorization?.startsWith("Bearer ") === true
    response.writeHead(isKnown ? 200 : 404, { "content-type": "text/plain; version=0.0.4" })
    response.end(isKnown ? metrics(Date.now()) : "")
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
