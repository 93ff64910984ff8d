import { expect, test, vi } from "vitest"
import type { KubeObject } from "../apimachinery/object.ts"
import { forbidden } from "../apimachinery/status.ts"
import { deployments, namespaces, services } from "../client/resources.ts"
import type { Resource } from "../client/rest.ts"
import { FakeClock } from "../client/testing/fake-clock.ts"
import { startHarness } from "./testing/harness.ts"

const metadata = { name: "web", namespace: "default" }
const service: KubeObject = {
  apiVersion: "v1",
  kind: "Service",
  metadata,
  spec: { clusterIP: "10.96.0.10", ipFamilies: ["IPv4"], selector: { app: "web" }, ports: [{ port: 80 }] },
}
const deployment: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata,
  spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template: { metadata: { labels: { app: "web" } } } },
}

const minute = 60_000
const hour = 60 * minute

/** Delays between attempts in seconds, from the comments on maxRetries in k8s.io/kubernetes/pkg/controller. */
const cases: { controller: string; fails: string; object: KubeObject; resource: Resource; waits: number[] }[] = [
  {
    controller: "endpointslice",
    fails: "endpointslices",
    object: service,
    resource: services,
    waits: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000],
  },
  {
    controller: "deployment",
    fails: "replicasets",
    object: deployment,
    resource: deployments,
    waits: [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
]

test.each(cases)("$controller retries as often as upstream, then once more after half a day", async (each) => {
  const clock = new FakeClock()
  // What a tenant refuses is no error of the controllers, which are logged with stacks.
  const errors = vi.spyOn(console, "error")
  await using harness = await startHarness({ only: [each.controller], clock })
  const attempts: number[] = []
  harness.cluster.fail = (verb, resource) => {
    if (verb !== "create" || resource !== each.fails) return undefined
    attempts.push(clock.now())
    return forbidden({ group: "", resource }, "", "no")
  }
  await harness.create(each.resource, each.object)
  for (const wait of each.waits) {
    await turns()
    clock.advance(wait * 1000)
  }
  await turns()
  const expected = each.waits.map((wait) => wait * 1000)
  expect(attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))).toEqual(expected)
  clock.advance(12 * hour - 1)
  await turns()
  expect(attempts).toHaveLength(16)
  clock.advance(1)
  await turns()
  expect(attempts).toHaveLength(17)
  expect(errors).not.toHaveBeenCalled()
})

test("a namespace is retried at least once a minute regardless of failures", async () => {
  const clock = new FakeClock()
  await using harness = await startHarness({ only: ["namespace"], clock })
  await harness.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } })
  let attempts = 0
  harness.cluster.fail = (verb, resource) => {
    if (verb !== "update" || resource !== "namespaces") return undefined
    attempts++
    return forbidden({ group: "", resource }, "", "no")
  }
  await harness.cluster.delete(namespaces, undefined, "team")
  for (let index = 0; index < 40; index++) {
    await turns()
    clock.advance(minute)
  }
  const before = attempts
  clock.advance(minute)
  await turns()
  expect(attempts).toBe(before + 1)
})

/** Runs the work that is due. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve))
}
