import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { openRegistry } from "../generic/testing/open-registry.ts"

const unchanged = (current: KubeObject): KubeObject => current

// Revisions are those of kube-apiserver (test/kubernetes/differential/cases/job-rules.ts). A job gets labels when it is created.
test.each([
  {
    resource: "jobs",
    group: "batch",
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    label: "job-name",
    isCompletedByCreate: false,
  },
  {
    resource: "replicationcontrollers",
    group: "",
    spec: { template: { metadata: { labels: { l: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } } },
    label: "l",
    isCompletedByCreate: true,
  },
])(
  "labels that one of $resource has of its template are stored by the next write of it, also after one of its status without labels",
  async ({ resource, group, spec, label, isCompletedByCreate }) => {
    const { registry, make, create, update, get } = openRegistry(resource, group)
    const object = make("a", structuredClone({ spec }))
    registry.definition.strategy.default?.(object)
    await create(object)
    const withoutLabels = (current: KubeObject): KubeObject => ({
      ...current,
      metadata: { name: "a" },
      status: { ready: 1, replicas: 1 },
    })
    const steps: [subresource: string, change: typeof unchanged, isWritten: boolean][] = [
      ["", unchanged, !isCompletedByCreate],
      ["", unchanged, false],
      ["status", withoutLabels, true],
      ["status", withoutLabels, true],
      ["", unchanged, true],
      ["", unchanged, false],
    ]
    let revision = (await get("a")).metadata.resourceVersion
    for (const [subresource, change, isWritten] of steps) {
      const { resourceVersion, labels } = (await update("a", change, subresource)).value.object().metadata
      expect([resourceVersion !== revision, labels?.[label]]).toEqual([isWritten, "a"])
      expect((await get("a")).metadata.labels).toEqual(labels)
      revision = resourceVersion
    }
  },
)
