// What becomes of a StatefulSet's pods when somebody deletes its revisions.

import { expect, test } from "vitest"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { controllerRevisions, pods, statefulSets } from "../../client/resources.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const labels = { app: "db" }
const set: KubeObject = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: "default" },
  spec: {
    replicas: 2,
    serviceName: "db",
    podManagementPolicy: "Parallel",
    updateStrategy: { type: "RollingUpdate" },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } },
  },
}

const uidsOf = (harness: Harness): unknown[] => harness.cluster.all<Pod>(pods).map(({ metadata }) => metadata.uid)
const statusOf = (harness: Harness): unknown => harness.cluster.find(statefulSets, "default", "db")?.["status"]

test("the revision is made again with its name, and the pods stay", async () => {
  await using harness = await startHarness({ only: ["statefulset"] })
  await harness.create(statefulSets, set)
  await eventually(async () => {
    await harness.runPods("default")
    expect(statusOf(harness)).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 })
  })
  const before = uidsOf(harness)
  const [{ metadata }] = harness.cluster.all(controllerRevisions) as [KubeObject]
  await harness.cluster.delete(controllerRevisions, "default", metadata.name!)
  // It is looked at only when its set is.
  await harness.change(statefulSets, "default", "db", { metadata: { labels: { touched: "yes" } } })
  await eventually(() => {
    const [again] = harness.cluster.all(controllerRevisions)
    expect(again?.metadata.uid).not.toBe(metadata.uid)
    expect(again?.metadata.name).toBe(metadata.name)
  })
  expect(uidsOf(harness)).toEqual(before)
})
