// Admission of super that changes pods, as it does for images of a mirror, or for requests of nodes that are overcommitted.

import { expect, test, vi } from "vitest"
import { forbidden, serviceUnavailable } from "../apimachinery/status.ts"
import { admittedAnnotation } from "../apimachinery/tenancy.ts"
import type { Container, Pod } from "../apimachinery/object.ts"
import { events, pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { podOf, startHarness } from "./testing/harness.ts"

const admitted = (containers: readonly Container[]): Container[] =>
  containers.map((container) => ({
    ...container,
    image: container.image?.replace(/^nginx/, "mirror/nginx") ?? "",
    resources: { requests: { cpu: "100m", memory: container.resources?.requests?.["memory"] ?? "" } },
  }))

const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2" } }
const pod = podOf("web", { containers: [{ name: "main", image: "nginx:1", resources }] })

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
      return [container?.image, container?.resources]
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

    await cluster.create(pods, pod)
    await harness.inSuper(pods, "web")
    await harness.settled()
    expect(contents()).toEqual(["mirror/nginx:1", { requests: { cpu: "100m", memory: "1Gi" } }])
    await comesToRest()

    set("nginx:1", "2Gi")
    await expect.poll(contents).toEqual(["mirror/nginx:1", { requests: { cpu: "100m", memory: "2Gi" } }])
    set("nginx:2", "2Gi")
    const second = isOfAll ? "mirror/nginx:2" : "nginx:2"
    await expect.poll(contents).toEqual([second, { requests: { cpu: "100m", memory: "2Gi" } }])
    await harness.settled()
    await comesToRest()

    const [container] = superCluster.find<Pod>(pods, home, "web")?.spec?.containers ?? []
    superCluster.edit(pods, home, "web", { spec: { containers: [{ ...container, image: "by hand" }] } })
    await eventually(() => JSON.stringify(contents()).includes(second), { what: "the image again" })
    await harness.settled()
    await comesToRest()
  },
)

test.each<[what: string, of: "create" | "patch", fault: Error]>([
  ["the record of it is lost", "patch", serviceUnavailable("down")],
  ["the record of it is refused once", "patch", forbidden(pods, "web", "not now")],
  ["the answer to the creation is lost", "create", serviceUnavailable("the answer is lost")],
])("what it makes of a new pod stays, if %s", async (_what, of, fault) => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const create = superCluster.create.bind(superCluster)
  const faults = [fault]
  vi.spyOn(superCluster, "create").mockImplementation(async (resource, object, ...more) => {
    if (resource !== pods) return create(resource, object, ...more)
    const made = await create(resource, admit(object), ...more)
    const error = of === "create" ? faults.pop() : undefined
    if (error !== undefined) throw error
    return made
  })
  superCluster.fail = (verb, resource) =>
    verb === of && of === "patch" && resource === "pods" ? faults.pop() : undefined

  await cluster.create(pods, pod)
  await eventually(() => superCluster.find(pods, home, "web")?.metadata.annotations?.[admittedAnnotation], {
    what: "the record",
  })
  await harness.settled()
  expect(faults).toEqual([])
  expect(superCluster.find<Pod>(pods, home, "web")).toMatchObject({
    metadata: { generation: 1 },
    spec: { containers: [{ image: "mirror/nginx:1", resources: { requests: { cpu: "100m", memory: "1Gi" } } }] },
  })
  expect(cluster.all(events).map((event) => event["reason"])).not.toContain("FailedCreate")
})
