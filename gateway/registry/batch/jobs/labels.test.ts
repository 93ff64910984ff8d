import { expect, test } from "vitest"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { openRegistry } from "../../generic/testing/open-registry.ts"

const spec = { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } }
const unchanged = (current: KubeObject): KubeObject => current

test("labels that a job has of its template are stored by the next write of it, also after one of its status without labels", async () => {
  const { registry, make, create, update, get } = openRegistry("jobs", "batch")
  const job = make("a", structuredClone({ spec }))
  registry.definition.strategy.default?.(job)
  await create(job)
  const withoutLabels = (current: KubeObject): KubeObject => ({
    ...current,
    metadata: { name: "a" },
    status: { ready: 1 },
  })
  const steps: [subresource: string, change: typeof unchanged, isWritten: boolean][] = [
    ["", unchanged, true],
    ["", unchanged, false],
    ["status", withoutLabels, true],
    ["", unchanged, true],
    ["", unchanged, false],
  ]
  let revision = (await get("a")).metadata.resourceVersion
  for (const [subresource, change, isWritten] of steps) {
    const { resourceVersion, labels } = (await update("a", change, subresource)).value.object().metadata
    expect([resourceVersion !== revision, labels?.["job-name"]]).toEqual([isWritten, "a"])
    expect((await get("a")).metadata.labels).toEqual(labels)
    revision = resourceVersion
  }
})
