// Random ownership graphs and random deletions: no object outlives all of its owners, and nothing else is deleted.

import { describe, expect, test } from "vitest"
import type { KubeObject, OwnerReference } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { chance, createRandom, pick, seeds, type Random } from "../../apimachinery/testing/random.ts"
import { configMaps, secrets } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import { eventually, startHarness, type Harness } from "../testing/harness.ts"

const kinds: readonly [string, Resource][] = [
  ["ConfigMap", configMaps],
  ["Secret", secrets],
]
const steps = 120

/** The model: the owners of each object, by uid. */
interface Expected {
  kind: number
  name: string
  owners: string[]
}

class Model {
  readonly objects = new Map<string, Expected>()
  /** Deletion was requested; the object may still exist for a while. */
  readonly leaving = new Set<string>()

  /** Removes what a deletion removes with it. */
  collect(): void {
    for (;;) {
      const lost = [...this.objects].filter(
        ([uid, { owners }]) =>
          this.leaving.has(uid) || (owners.length > 0 && owners.every((owner) => !this.objects.has(owner))),
      )
      if (lost.length === 0) break
      for (const [uid] of lost) {
        this.objects.delete(uid)
        this.leaving.delete(uid)
      }
    }
    // Of several owners, those that are gone are removed.
    for (const object of this.objects.values()) object.owners = object.owners.filter((owner) => this.objects.has(owner))
  }

  names(): string[] {
    return [...this.objects.values()]
      .map(({ kind, name, owners }) => `${kinds[kind]![0]} ${name} ${owners.length}`)
      .sort()
  }
}

/** The existing objects, and the number of owners of each. */
function present(harness: Harness): string[] {
  const line = (kind: string, { metadata }: KubeObject): string =>
    `${kind} ${metadata.name} ${metadata.ownerReferences?.length ?? 0}`
  return kinds.flatMap(([kind, resource]) => harness.cluster.all(resource).map((object) => line(kind, object))).sort()
}

async function settled(harness: Harness, model: Model): Promise<void> {
  model.collect()
  await eventually(() => expect(present(harness)).toEqual(model.names()))
}

async function create(harness: Harness, model: Model, random: Random, number: number): Promise<void> {
  const kind = random(kinds.length)
  const [name, resource] = kinds[kind]!
  const candidates = [...model.objects].filter(([uid]) => !model.leaving.has(uid))
  const owners = new Map<string, OwnerReference>()
  for (let wanted = random(4); wanted > 0 && candidates.length > 0; wanted--) {
    const [uid, owner] = pick(random, candidates)
    const reference = { apiVersion: "v1", kind: kinds[owner.kind]![0], name: owner.name, uid }
    owners.set(uid, chance(random, 0.5) ? { ...reference, blockOwnerDeletion: true } : reference)
  }
  const object: KubeObject = {
    apiVersion: "v1",
    kind: name,
    metadata: { name: `o${number}`, namespace: "default", ownerReferences: [...owners.values()] },
  }
  const { uid = "" } = (await harness.create(resource, object)).metadata
  model.objects.set(uid, { kind, name: `o${number}`, owners: [...owners.keys()] })
}

async function remove(harness: Harness, model: Model, random: Random): Promise<void> {
  const candidates = [...model.objects].filter(([uid]) => !model.leaving.has(uid))
  if (candidates.length === 0) return
  const [uid, { kind, name }] = pick(random, candidates)
  const propagationPolicy = pick(random, ["Background", "Foreground", "Orphan"] as const)
  // Which of its owners a dependent keeps depends on which of them is deleted first, so orphaned ones are deleted alone.
  if (propagationPolicy === "Orphan") await settled(harness, model)
  if (!model.objects.has(uid)) return
  try {
    await harness.cluster.delete(kinds[kind]![1], "default", name, { uid, propagationPolicy })
  } catch (error) {
    if (!isNotFound(error)) throw error // collected meanwhile
  }
  model.leaving.add(uid)
  if (propagationPolicy !== "Orphan") return
  for (const object of model.objects.values()) object.owners = object.owners.filter((owner) => owner !== uid)
  await settled(harness, model)
}

describe("the garbage collector", () => {
  test.each(seeds(6))("keeps exactly the objects with an existing owner (seed %i)", async (seed) => {
    const random = createRandom(seed)
    const model = new Model()
    await using harness = await startHarness({ only: ["garbage-collector"] })
    for (let step = 0; step < steps; step++) {
      if (chance(random, 0.7)) await create(harness, model, random, step)
      else await remove(harness, model, random)
      // References to deleted objects are removed; otherwise they would affect later decisions.
      if (chance(random, 0.2)) await settled(harness, model)
    }
    await settled(harness, model)
    for (const [, resource] of kinds) {
      for (const { metadata } of harness.cluster.all(resource)) {
        const owners = metadata.ownerReferences ?? []
        if (owners.length > 0) expect(owners.some(({ uid }) => model.objects.has(uid))).toBe(true)
      }
    }
  })
})
