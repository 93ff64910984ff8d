// Admission of super that changes pods, as it does for images of a mirror, or for requests of nodes that are overcommitted.

import { expect, test, vi } from "vitest"
import type { Container, Pod } from "../apimachinery/object.ts"
import { pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { podOf, startHarness } from "./testing/harness.ts"

const admitted = (containers: readonly Container[]): Container[] =>
  containers.map((container) => ({
    ...container,
    image: container.image?.replace(/^nginx/, "mirror/nginx") ?? "",
    resources: { requests: { cpu: "100m", memory: container.resources?.requests?.["memory"] ?? "" } },
  }))

function admit<T>(object: T): T {
  const { spec } = object as { spec?: Partial<Pod["spec"]> }
  return spec?.containers === undefined
    ? object
    : { ...object, spec: { ...spec, containers: admitted(spec.containers) } }
}

test.each([
  ["creates", false],
  ["all writes", true],
])(
  "what it makes of %s stays, and what the tenant or somebody else changes is the tenant's",
  async (_what, isOfAll) => {
    await using harness = await startHarness()
    const { cluster, superCluster, home } = harness
    const { create, patch } = {
      create: superCluster.create.bind(superCluster),
      patch: superCluster.patch.bind(superCluster),
    }
    vi.spyOn(superCluster, "create").mockImplementation((resource, object, ...more) =>
      create(resource, resource === pods ? admit(object) : object, ...more),
    )
    vi.spyOn(superCluster, "patch").mockImplementation((resource, namespace, name, change, options) =>
      patch(resource, namespace, name, isOfAll && resource === pods ? admit(change) : change, options),
    )
    const contents = (): unknown => {
      const [container] = superCluster.find<Pod>(pods, home, "web")?.spec?.containers ?? []
      return [container?.image, container?.resources?.requests]
    }
    const set = (image: string, memory: string): unknown =>
      cluster.edit(pods, "default", "web", {
        spec: { containers: [{ name: "main", image, resources: { requests: { cpu: "1", memory } } }] },
      })
    const comesToRest = async (): Promise<void> => {
      const writes = superCluster.writes.length
      for (let round = 0; round < 2; round++) await harness.settled()
      expect(superCluster.writes.slice(writes)).toEqual([])
    }

    const resources = { requests: { cpu: "1", memory: "1Gi" } }
    await cluster.create(pods, podOf("web", { containers: [{ name: "main", image: "nginx:1", resources }] }))
    await harness.inSuper(pods, "web")
    await harness.settled()
    expect(contents()).toEqual(["mirror/nginx:1", { cpu: "100m", memory: "1Gi" }])
    await comesToRest()

    set("nginx:1", "2Gi")
    await expect.poll(contents).toEqual(["mirror/nginx:1", { cpu: "100m", memory: "2Gi" }])
    set("nginx:2", "2Gi")
    const second = isOfAll ? "mirror/nginx:2" : "nginx:2"
    await expect.poll(contents).toEqual([second, { cpu: "100m", memory: "2Gi" }])
    await harness.settled()
    await comesToRest()

    const [container] = superCluster.find<Pod>(pods, home, "web")?.spec?.containers ?? []
    superCluster.edit(pods, home, "web", { spec: { containers: [{ ...container, image: "by hand" }] } })
    await eventually(() => JSON.stringify(contents()).includes(second), { what: "the image again" })
    await harness.settled()
    await comesToRest()
  },
)
