// Runs a gateway in the given folder: tenants are created, written to, fall asleep, wake and are deleted, and the gateway is
// stopped and restarted. Acknowledged operations are written to standard output, one line of JSON each (told.ts).

import { writeSync } from "node:fs"
import type { ConfigMap } from "../../apimachinery/object.ts"
import { configMaps } from "../../client/resources.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import type { Told } from "./told.ts"

const starts = 3
/** Number of tenants per start; every third is deleted again. */
const tenants = 6
const objects = 5

const tell = (told: Told): void => void writeSync(1, `${JSON.stringify(told)}\n`)

async function main(dataDir: string): Promise<void> {
  for (let start = 0; start < starts; start++) {
    // Tenants fall asleep immediately, so that files are opened and closed often, and tables are small: many disk operations for
    // few writes.
    const limits = { tenantIdleMs: 1, maxAwakeTenants: 2 }
    await using gateway = await startTestGateway({ dataDir, limits, storeLimits: { writeBufferBytes: 64 * 1024 } })
    tell({ what: "gateway", authority: gateway.gateway.certificateAuthority })
    const names = Array.from({ length: tenants }, (_, index) => `tenant-${start}-${index}`)
    await Promise.all(names.map((name, index) => live(gateway, name, index % 3 === 2)))
    if (start > 0) await write(gateway, `tenant-${start - 1}-0`, start)
  }
}

async function live(gateway: TestGateway, name: string, goes: boolean): Promise<void> {
  const { tenant, certificate = "", key = "" } = await gateway.createTenant(name)
  tell({ what: "tenant", name, uid: tenant.uid, certificate, key })
  await write(gateway, name, 0)
  if (!goes) return
  tell({ what: "deleting", name })
  await gateway.gateway.tenants.delete(name)
  tell({ what: "deleted", name })
}

async function write(gateway: TestGateway, tenant: string, round: number): Promise<void> {
  const client = gateway.gateway.tenants.client(tenant)
  for (let index = 0; index < objects; index++) {
    const name = `round-${round}-${index}`
    const metadata = { name, namespace: "default" }
    const data = { text: name.repeat(100 * index) }
    const { metadata: made } = await client.create<ConfigMap>(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
      data,
    })
    tell({ what: "object", tenant, name, resourceVersion: made.resourceVersion ?? "" })
  }
  await client.delete(configMaps, "default", `round-${round}-0`)
  tell({ what: "gone", tenant, name: `round-${round}-0` })
}

await main(process.argv[2] ?? "")
