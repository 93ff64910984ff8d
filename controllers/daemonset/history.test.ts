// The revisions of a DaemonSet.

import { expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { controllerRevisions, daemonSets } from "../../client/resources.ts"
import type { ControllerRevision } from "../history/revisions.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { LateCluster } from "../testing/late-cluster.ts"

const withImage = (image: string): object => ({
  metadata: { labels: { app: "agent" } },
  spec: { containers: [{ name: "c", image }] },
})

const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "default" },
  spec: { selector: { matchLabels: { app: "agent" } }, template: withImage("one") },
} as KubeObject

test("of a DaemonSet are put in order once the one before is seen, too", async () => {
  const cluster = new LateCluster(controllerRevisions)
  await using harness = await startHarness({ only: ["daemonset"], cluster })
  const revisions = (): unknown[] =>
    cluster
      .all<ControllerRevision>(controllerRevisions)
      .map(({ data, revision }) => [data?.spec?.template?.spec?.containers[0]?.image, revision])
  cluster.hold()
  await harness.create(daemonSets, daemonSet)
  await eventually(() => expect(revisions()).toEqual([["one", 1]]))
  await harness.change(daemonSets, "default", "agent", { spec: { template: withImage("two") } })
  await eventually(() => expect(revisions()).toHaveLength(2))
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(revisions()).toEqual(expect.arrayContaining([["two", 1]]))
  cluster.release()
  await eventually(() => expect(revisions()).toEqual(expect.arrayContaining([["two", 2]])))
})
