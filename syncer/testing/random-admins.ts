// What administrators of a super cluster do there at random, by mistake and otherwise, with tenants' copies and with nodes.

import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { chance, pick, type Random } from "../../apimachinery/testing/random.ts"
import { configMaps, namespaces, nodes, pods, secrets } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { Faults } from "../../client/testing/faulty-client.ts"
import { object } from "./harness.ts"
import type { Invariants } from "./invariants.ts"
import { contents, copied, disowning, handEdits, held, inNamespaces, nodeEdits } from "./random-contents.ts"

interface AdminParts {
  random: Random
  superCluster: FakeCluster
  invariants: Invariants
  faults: Faults
  /** How often namespaces come and go, as in random-world.ts. */
  churn: number
}

export class RandomAdmins {
  readonly #parts: AdminParts

  constructor(parts: AdminParts) {
    this.#parts = parts
  }

  /** With copies. */
  async meddle(): Promise<void> {
    const { random, superCluster, invariants, churn } = this.#parts
    const [resource] = pick(random, [...contents, [pods], [namespaces]] as [Resource][])
    const copies = superCluster.all(resource).filter((copy) => recordedOwner(copy) !== undefined)
    if (copies.length === 0 || (resource === namespaces && !chance(random, 0.2 * churn))) return
    const copy = pick(random, copies)
    const { namespace, name = "" } = copy.metadata
    if (chance(random, 0.05)) superCluster.edit(resource, namespace, name, pick(random, disowning))
    else if (chance(random, 0.3)) superCluster.edit(resource, namespace, name, held)
    else if (chance(random, 0.5)) await this.#delete(resource, copy)
    else {
      const edit = pick(random, handEdits)
      // Its copy is made anew.
      if ("immutable" in edit && (resource === configMaps || resource === secrets))
        invariants.removed.add(copy.metadata.uid ?? "")
      superCluster.edit(resource, namespace, name, edit)
    }
  }

  async #delete(resource: Resource, copy: KubeObject): Promise<void> {
    const { namespace, name = "", finalizers = [] } = copy.metadata
    if (finalizers.length > 0) await this.#parts.superCluster.delete(resource, namespace, name)
    else this.remove(resource, copy)
  }

  /** What is held, and is being deleted; and what is nobody's any more, which keeps its name from the tenant's object. */
  letGo(probability: number): void {
    const { random, superCluster } = this.#parts
    for (const resource of copied) {
      for (const copy of superCluster.all<KubeObject>(resource)) {
        const { deletionTimestamp, finalizers = [] } = copy.metadata
        const isHeld = deletionTimestamp !== undefined && finalizers.length > 0
        const isNobodys = recordedOwner(copy)?.uid === undefined
        if ((isHeld || isNobodys) && chance(random, probability)) this.remove(resource, copy)
      }
    }
  }

  remove(resource: Resource, { metadata: { namespace, name = "", uid = "" } }: KubeObject): void {
    const { superCluster, invariants } = this.#parts
    const kinds = resource === namespaces ? inNamespaces : []
    const inside = kinds.flatMap((kind) => superCluster.all<KubeObject>(kind, name))
    for (const one of [uid, ...inside.map(({ metadata }) => metadata.uid ?? "")]) invariants.removed.add(one)
    superCluster.remove(resource, namespace, name)
  }

  async changeNodes(): Promise<void> {
    const { random, superCluster } = this.#parts
    if (chance(random, 0.5)) superCluster.edit(nodes, undefined, "node-1", pick(random, nodeEdits))
    else if (superCluster.find(nodes, undefined, "node-2") === undefined) await this.haveNodes()
    else {
      superCluster.remove(nodes, undefined, "node-2")
      for (const pod of superCluster.all<Pod>(pods)) if (pod.spec?.nodeName === "node-2") this.remove(pods, pod)
    }
  }

  /** All of them. */
  async haveNodes(): Promise<void> {
    const { superCluster } = this.#parts
    for (const name of ["node-1", "node-2"])
      if (superCluster.find(nodes, undefined, name) === undefined)
        await superCluster.create(nodes, object("Node", undefined, name, { spec: {} }))
  }

  /** A quota, or a webhook, which refuses the writes of one kind until it is another one. */
  changeAdmission(): void {
    const { random, faults } = this.#parts
    const denied = { verb: pick(random, ["create", "patch", "delete"]), resource: pick(random, copied) }
    faults.denied = chance(random, 0.5) ? undefined : denied
  }
}
