// A tenant with an aggregated API falls asleep although the server and the controllers watch it, and what is requested of the API
// reaches the controllers when it wakes.

import { rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { describe, expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import { configMaps } from "../../../client/resources.ts"
import { startControllers } from "../../../controllers/main.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { eventually } from "../../harness/eventually.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { lacks } from "../harness/needs.ts"
import { allowedNetworks, flunders, group, programs, Wardle } from "./wardle.ts"

describe.skipIf(lacks(programs))("a tenant with an aggregated API", () => {
  test("sleeps, and collects what is deleted through it", async () => {
    await using stack = new AsyncDisposableStack()
    const folder = await temporaryFolder("polyplane-asleep")
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const gateway = stack.use(await startTestGateway({ allowedNetworks, limits: { tenantIdleMs: 100 } }))
    const { tenants, certificateAuthority: rootCertificateAuthority } = gateway.gateway
    const tenant = await gateway.createTenant("a")
    const kubeconfig = path.join(folder, "kubeconfig")
    await writeFile(kubeconfig, tenant.kubeconfig, { mode: 0o600 })
    stack.use(startControllers(tenants, { rootCertificateAuthority }))
    const client = gateway.client("/tenants/a", tenant)
    const wardle = stack.use(await Wardle.start({ client, kubeconfig }))
    const { uid = "" } = (
      await client.create<KubeObject>(flunders, {
        apiVersion: `${group}/v1beta1`,
        kind: "Flunder",
        metadata: { namespace: "default", name: "owner" },
      })
    ).metadata
    const ownerReferences = [{ apiVersion: `${group}/v1beta1`, kind: "Flunder", name: "owner", uid }]
    await client.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace: "default", name: "dependent", ownerReferences },
    })
    const watches = async (): Promise<number> => {
      const all = await wardle.audit()
      return all.filter(({ verb, user }) => verb === "watch" && user.username === "system:polyplane").length
    }
    await eventually(() => tenants.awake === 0, { what: "the tenant sleeps" })
    // An audit has an entry of a watch when it ends: those of flunders and fischers have.
    await eventually(async () => (await watches()) >= 2, { what: "the watches have ended" })
    await client.delete(flunders, "default", "owner")
    const isGone = async (): Promise<boolean> =>
      client.get(configMaps, "default", "dependent").then(
        () => false,
        (error: unknown) => isNotFound(error),
      )
    await eventually(isGone, { what: "the dependent is gone" })
    await eventually(() => tenants.awake === 0, { what: "the tenant sleeps again" })
    expect(await isGone()).toBe(true)
    await eventually(() => tenants.awake === 0, { what: "the tenant sleeps once more" })
    // The first thing that a client asks for.
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    const { text } = await gateway.request("/tenants/a/apis", { ...tenant, headers: { accept } })
    const { items } = JSON.parse(text) as { items: { metadata: { name: string }; versions: object[] }[] }
    const [version] = items.find(({ metadata }) => metadata.name === group)?.versions ?? []
    expect(version).toMatchObject({ version: "v1beta1", freshness: "Current", resources: [{ resource: "flunders" }] })
  })
})
