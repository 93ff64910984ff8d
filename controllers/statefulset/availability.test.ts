// A pod that becomes available while its StatefulSet is reconciled.

import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { controllerRevisions, statefulSets } from "../../client/resources.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { statefulSet, statusOf } from "../testing/stateful-set.ts"

test("it is counted, also if that takes longer than it had left", async () => {
  const clock = new FakeClock(Date.parse("2026-01-01T00:00:00Z"))
  await using harness = await startHarness({ only: ["statefulset"], clock })
  const { cluster } = harness
  await harness.create(statefulSets, statefulSet(1, { minReadySeconds: 5, revisionHistoryLimit: 0 }))
  await eventually(async () => {
    await harness.runPods("default")
    expect(statusOf(harness)).toMatchObject({ readyReplicas: 1, availableReplicas: 0 })
  })
  // What takes long is the deletion of a revision, which says nothing of the pods.
  cluster.fail = (verb, resource) => {
    if (verb === "delete" && resource === "controllerrevisions") clock.advance(10_000)
    return undefined
  }
  const old: KubeObject = {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: { name: "old", namespace: "default", labels: { app: "db" } },
  }
  await harness.create(controllerRevisions, old)
  // Its revisions are looked at only when the set is.
  await harness.change(statefulSets, "default", "db", { metadata: { labels: { touched: "yes" } } })
  await eventually(() => {
    expect(cluster.find(controllerRevisions, "default", "old")).toBeUndefined()
    expect(statusOf(harness)).toMatchObject({ availableReplicas: 1 })
  })
})
