// Controllers let the thread serve others between their reconciles.

import { expect, test } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { namespaces, serviceAccounts } from "../client/resources.ts"
import { singleCluster } from "../client/single-cluster.ts"
import { FakeCluster } from "../client/testing/fake-cluster.ts"
import { startControllers } from "./main.ts"
import { eventually, harnessAuthority } from "./testing/harness.ts"

test("each reconcile waits for the turn of its tenant", async () => {
  const cluster = new FakeCluster()
  const waiting: (() => void)[] = []
  let isOver = false
  const pause = (tenant: string): Promise<void> | undefined => {
    expect(tenant).toBe("tenant-a")
    return isOver ? undefined : new Promise((resolve) => waiting.push(resolve))
  }
  await using _ = startControllers(
    { ...singleCluster(cluster, "tenant-a"), pause },
    { rootCertificateAuthority: harnessAuthority, only: ["serviceaccount"] },
  )
  const made = (): number => cluster.all(serviceAccounts).length
  for (const name of ["a", "b"])
    await cluster.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } } as KubeObject)
  await eventually(() => expect(waiting.length).toBeGreaterThanOrEqual(2))
  expect(made()).toBe(0)
  await eventually(() => {
    for (const resolve of waiting.splice(0)) resolve()
    expect(made()).toBe(2)
  })
  isOver = true
  for (const resolve of waiting) resolve()
})
