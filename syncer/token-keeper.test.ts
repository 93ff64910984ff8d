import { expect, test } from "vitest"
import type { KubeObject, Pod, Secret } from "../apimachinery/object.ts"
import { superNamespace } from "../apimachinery/tenancy.ts"
import { namespaces, pods, secrets, serviceAccounts } from "../client/resources.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { startSyncer } from "./main.ts"
import { syncerLimits } from "./options.ts"
import { eventually } from "../test/harness/eventually.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { FakeTenants, fakeTenant } from "./testing/fake-tenants.ts"

const lifeSeconds = 3600
const object = (kind: string, more: Partial<KubeObject> & Pick<KubeObject, "metadata">): KubeObject => ({
  apiVersion: "v1",
  kind,
  ...more,
})
const pod = object("Pod", {
  metadata: { namespace: "default", name: "web" },
  spec: {
    serviceAccountName: "default",
    containers: [{ name: "main", image: "nginx:1" }],
    volumes: [
      {
        name: "token",
        projected: { sources: [{ serviceAccountToken: { path: "token", expirationSeconds: lifeSeconds } }] },
      },
    ],
  },
})

test("a pod's token is issued anew when four fifths of its life are over, and not before", async () => {
  const clock = new FakeClock(Date.now())
  const superCluster = new FakeCluster({ isSuper: true })
  const tenants = new FakeTenants()
  const tenant = fakeTenant("acme")
  const home = superNamespace(tenant.clusterKey, "default")
  const cluster = tenants.add(tenant)
  await cluster.create(namespaces, object("Namespace", { metadata: { name: "default" } }))
  await cluster.create(
    serviceAccounts,
    object("ServiceAccount", { metadata: { namespace: "default", name: "default" } }),
  )
  await using syncer = await startSyncer({ tenants, superClient: superCluster, clock, patrolPeriodMs: 10 ** 9 })
  await syncer.whenSynced()

  await cluster.create(pods, pod)
  const superPod = await eventually(() => superCluster.find<Pod>(pods, home, "web"), { what: "the pod in super" })
  const name = superPod.spec?.volumes?.[0]?.projected?.sources?.[0]?.secret?.name ?? ""
  const token = (): string | undefined => superCluster.find<Secret>(secrets, home, name)?.data?.["token-0-0"]
  const first = token()
  expect(first).toBeDefined()

  const share = syncerLimits.tokenRefreshShare
  clock.advance(lifeSeconds * 1000 * (share - 0.05))
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  expect(token()).toBe(first)
  clock.advance(lifeSeconds * 1000 * 0.1)
  await eventually(() => token() !== first, { what: "another token" })
  expect(share).toBe(0.8)
})
