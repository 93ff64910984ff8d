import { expect, test } from "vitest"
import { microTimestamp, type KubeObject } from "../../apimachinery/object.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { leases } from "../../client/resources.ts"
import { eventually, startHarness } from "../testing/harness.ts"

const label = "apiserver.kubernetes.io/identity"

test("leases of stopped API servers are deleted, others are kept", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["apiserver-lease-cleaning"], clock })
  const lease = (name: string, namespace: string, labels: Record<string, string>, renewed: number): KubeObject =>
    ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace, labels },
      spec: { leaseDurationSeconds: 3600, renewTime: microTimestamp(new Date(renewed)) },
    }) as KubeObject
  const now = clock.now()
  const identity = { [label]: "kube-apiserver" }
  await harness.create(leases, lease("gone", "kube-system", identity, now - 4_000_000))
  await harness.create(leases, lease("alive", "kube-system", identity, now))
  await harness.create(leases, lease("elsewhere", "default", identity, now - 4_000_000))
  await harness.create(leases, lease("other", "kube-system", { [label]: "other" }, now - 4_000_000))
  const names = (): unknown => harness.cluster.all(leases).map(({ metadata }) => metadata.name)
  await eventually(() => expect(names()).toEqual(["alive", "elsewhere", "other"]))
  await eventually(() => {
    clock.advance(3_600_000)
    expect(names()).toEqual(["elsewhere", "other"])
  })
})
