// The time from requesting a tenant to its first response: VirtualCluster created → its API responds to a get with the tenant's
// own credential, over a new TLS connection. Compared with a namespace of the super cluster: created → first get.
//   node bench/tenants.ts [tenants, 200]

import type { KubeObject } from "../apimachinery/object.ts"
import { namespaces } from "../client/resources.ts"
import { startPolyplane } from "../test/harness/polyplane.ts"
import { progress } from "./progress.ts"
import { argument, atMost, type Goal, quantile, report } from "./report.ts"
import { adminClient, TenantMaker, type Client } from "./tenant-clients.ts"

const count = argument(0, 200)
/** Warm-up, not counted. */
const warmUp = 10

await using up = await startPolyplane({ args: ["--tenants", ""] })
await using admin = await adminClient(up)
await using maker = await TenantMaker.start(admin)

async function makeTenant(name: string): Promise<number> {
  const begin = performance.now()
  await using client = await maker.make(name)
  await client.get(namespaces, undefined, "default")
  return performance.now() - begin
}

async function makeNamespace(name: string): Promise<number> {
  const begin = performance.now()
  await using client: Client = await adminClient(up)
  await client.create<KubeObject>(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
  await client.get(namespaces, undefined, name)
  return performance.now() - begin
}

const tenants: number[] = []
const spaces: number[] = []
for (let index = -warmUp; index < count; index++) {
  progress("making tenants", index + warmUp, count + warmUp)
  const tenant = await makeTenant(`tenant-${index + warmUp}`)
  const space = await makeNamespace(`space-${index + warmUp}`)
  if (index < 0) continue
  tenants.push(tenant)
  spaces.push(space)
}

const line = (share: number, name: string, goal: Goal) => ({
  what: `tenant to its first answer, ${name}`,
  value: quantile(tenants, share),
  unit: "ms",
  goal,
  obstacle:
    "1.7 ms until the VirtualCluster is created, 2 until the operator and the client have seen changes, 6.3 in the operator (finalizer 1, store and trust roots 2.9, kubeconfig 1.1, status 1.1), 3.4 for the first request over a new TLS connection",
  compared: { with: "namespace to its first answer", value: quantile(spaces, share) },
})
await report("tenants", { tenants: count }, [line(0.5, "p50", atMost(10)), line(0.99, "p99", atMost(50))])
