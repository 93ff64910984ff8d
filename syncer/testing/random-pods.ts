// What a tenant does with its pods at random, and with what its own controllers say of them.

import type { Pod } from "../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../apimachinery/testing/random.ts"
import { pods } from "../../client/resources.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { object } from "./harness.ts"
import { held, volumesOfPods } from "./random-contents.ts"

const gate = "example.com/gate"

/** false: it does nothing, and the pod may be deleted instead. */
export async function usePod(
  random: Random,
  cluster: FakeCluster,
  home: string,
  name: string,
  image: string,
): Promise<boolean> {
  const found = cluster.find<Pod>(pods, home, name)
  if (found === undefined) {
    const made = object("Pod", home, name, { spec: specOf(random, image) })
    if (chance(random, 0.2)) made.metadata.finalizers = held.metadata.finalizers
    await cluster.create(pods, made)
    return true
  }
  const { deletionTimestamp, finalizers = [] } = found.metadata
  if (finalizers.length > 0 && chance(random, 0.5)) {
    await cluster.patch(pods, home, name, { metadata: { finalizers: null } }, { type: "merge" })
    return true
  }
  if (deletionTimestamp !== undefined || chance(random, 0.25)) return false
  cluster.edit(pods, home, name, changeOf(random, found, image))
  return true
}

function specOf(random: Random, image: string): object {
  return {
    serviceAccountName: "default",
    containers: [{ name: "main", image, resources: resourcesOf(random) }],
    restartPolicy: pick(random, ["Always", "Never"]),
    volumes: pick(random, volumesOfPods),
    ...(chance(random, 0.3) ? { readinessGates: [{ conditionType: gate }] } : {}),
    ...(chance(random, 0.2) ? { priorityClassName: `class-${random(2)}`, priority: random(9) } : {}),
    ...(chance(random, 0.2) ? { tolerations: [{ key: "a", operator: "Exists" }] } : {}),
    ...(chance(random, 0.2) ? { schedulingGates: [{ name: "example.com/wait" }] } : {}),
  }
}

const resourcesOf = (random: Random): object => ({ requests: { cpu: `${1 + random(9)}m` } })

/** In the fields that a server lets it change. */
function changeOf(random: Random, { spec, status }: Pod, image: string): Record<string, unknown> {
  const { containers = [], ephemeralContainers = [], tolerations = [] } = spec ?? {}
  const others = (status?.conditions ?? []).filter(({ type }) => type !== gate)
  const condition = { type: gate, status: pick(random, ["True", "False"]), reason: pick(random, ["A", "B"]) }
  return pick<Record<string, unknown>>(random, [
    { spec: { containers: containers.map((one) => ({ ...one, image })) } },
    { spec: { containers: containers.map((one) => ({ ...one, resources: resourcesOf(random) })) } },
    { spec: { ephemeralContainers: [...ephemeralContainers, { name: `e${ephemeralContainers.length}`, image }] } },
    { spec: { tolerations: [...tolerations, { key: `t${tolerations.length}`, operator: "Exists" }] } },
    { spec: { schedulingGates: null } },
    { status: { conditions: [...others, condition] } },
    { metadata: { labels: { app: image }, annotations: { note: image } } },
  ])
}
