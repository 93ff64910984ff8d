// The gateway of bench/watch.ts, in a process of its own: so many tenants, nothing but their APIs. Says where they are, a line
// of JSON each.
//   node bench/watch-gateway.ts tenants

import { startTestGateway } from "../gateway/testing/start-gateway.ts"

const count = Number(process.argv[2])
/** Made at the same time. */
const parallel = 8

const gateway = await startTestGateway({ superCluster: false })
process.once("SIGTERM", () => void gateway[Symbol.asyncDispose]().then(() => process.exit(0)))
const { certificateAuthority } = gateway.gateway
// Who measures says when to go on.
process.stdout.write("{}\n")
await new Promise((resolve) => process.stdin.once("data", resolve))
process.stdin.destroy()

const indexes = Array.from({ length: count }, (_, index) => index).values()
async function make(): Promise<void> {
  for (const index of indexes) {
    const { url, certificate, key } = await gateway.createTenant(`tenant-${index}`, { controllers: false })
    process.stdout.write(`${JSON.stringify({ url, certificate, key, certificateAuthority })}\n`)
  }
}
await Promise.all(Array.from({ length: parallel }, make))
