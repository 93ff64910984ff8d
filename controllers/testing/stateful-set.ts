// A StatefulSet "db", for tests of its controller.

import { expect } from "vitest"
import type { KubeObject, Pod, StatefulSet } from "../../apimachinery/object.ts"
import { pods, statefulSets } from "../../client/resources.ts"
import { eventually, type Harness } from "./harness.ts"

/** The controllers that tests of it run. */
export const only = ["statefulset", "garbage-collector"]

export function statefulSet(replicas: number, spec: object = {}): KubeObject {
  const labels = { app: "db" }
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas,
      serviceName: "db",
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "one" }] } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      podManagementPolicy: "OrderedReady",
      ...spec,
    },
  }
}

export const image = (name: string): object => ({
  spec: { template: { spec: { containers: [{ name: "c", image: name }] } } },
})

export const podsOf = (harness: Harness): Pod[] => harness.cluster.all<Pod>(pods)

export const names = (harness: Harness): string[] => podsOf(harness).map(({ metadata }) => metadata.name!)

export const images = (harness: Harness): string[] => podsOf(harness).map(({ spec }) => spec!.containers[0]!.image!)

export const statusOf = (harness: Harness): NonNullable<StatefulSet["status"]> =>
  harness.cluster.find<StatefulSet>(statefulSets, "default", "db")!.status!

export async function settled(harness: Harness, replicas: number): Promise<void> {
  await eventually(async () => {
    await harness.runPods("default")
    expect(statusOf(harness)).toMatchObject({ replicas, readyReplicas: replicas, updatedReplicas: replicas })
    expect(statusOf(harness).currentRevision).toBe(statusOf(harness).updateRevision)
  })
}
