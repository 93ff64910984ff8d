// Limits of what a tenant takes of the super cluster, over all its namespaces: a ResourceQuota of the super cluster applies to one
// namespace, and a tenant creates as many as it likes. A write is counted from before it is stored, so concurrent writes of this
// process cannot exceed a limit together; several gateways can, by the writes in progress in the others.

import type {
  GroupVersionResource,
  KubeObject,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../../apimachinery/object.ts"
import { forbidden } from "../../../apimachinery/status.ts"
import type { Claim } from "../claim.ts"
import { claimsTaken, namespacesTaken, podsTaken, servicesTaken, type Taken, type TakenName } from "./taken.ts"
import type { RequestContext } from "../../request/context.ts"
import { builtIn } from "../generic/internal-write.ts"
import { storagePrefixOf } from "../generic/storage/keys.ts"

const podKind = { group: "", version: "v1", resource: "pods" }
const serviceKind = { group: "", version: "v1", resource: "services" }
const namespaceKind = { group: "", version: "v1", resource: "namespaces" }
const claimKind = { group: "", version: "v1", resource: "persistentvolumeclaims" }

interface Write {
  resource: GroupVersionResource
  object: KubeObject
  current: KubeObject | undefined
  takenBy: (object: KubeObject) => Taken
}

export class SuperQuota {
  /** A limit that is absent does not exist. */
  readonly #limits: () => Taken
  /** By uid of the object, what it takes once it is stored. */
  readonly #underWay = new Map<string, Taken>()
  /** Those that are counting at the moment: what each has seen under way. */
  readonly #readers = new Set<Map<string, Taken>>()

  constructor(limits: () => Taken) {
    this.#limits = limits
  }

  /** These throw Forbidden. Undefined: the object takes nothing that is limited. */
  claimPod(ctx: RequestContext, pod: Pod): Promise<Claim | undefined> {
    return this.#claim(ctx, { resource: podKind, object: pod, current: undefined, takenBy: podsTaken })
  }

  claimNamespace(ctx: RequestContext, namespace: Namespace): Promise<Claim | undefined> {
    return this.#claim(ctx, {
      resource: namespaceKind,
      object: namespace,
      current: undefined,
      takenBy: namespacesTaken,
    })
  }

  claimVolumeClaim(ctx: RequestContext, claim: PersistentVolumeClaim): Promise<Claim | undefined> {
    return this.#claim(ctx, { resource: claimKind, object: claim, current: undefined, takenBy: claimsTaken })
  }

  claimService(ctx: RequestContext, service: Service, current: Service | undefined): Promise<Claim | undefined> {
    return this.#claim(ctx, serviceWrite(service, current))
  }

  /** For a dry run, which takes nothing. */
  async checkService(ctx: RequestContext, service: Service, current: Service | undefined): Promise<void> {
    await this.#claim(ctx, serviceWrite(service, current), false)
  }

  async #claim(ctx: RequestContext, write: Write, takes = true): Promise<Claim | undefined> {
    const { object, current, takenBy } = write
    const wanted = takenBy(object)
    const before: Taken = current === undefined ? {} : takenBy(current)
    const limits = this.#limits()
    const names = (Object.keys(wanted) as TakenName[]).filter(
      (name) => limits[name] !== undefined && of(wanted, name) > of(before, name),
    )
    if (names.length === 0 || isKubernetesService(write)) return undefined
    // Writes that are under way at some time from here on: each may or may not be in what is read.
    const seen = new Map(this.#underWay)
    this.#readers.add(seen)
    try {
      const stored = names.includes("services.nodeports") ? Infinity : await countStored(ctx, write)
      if (names.some((name) => stored + seen.size >= of(limits, name))) {
        const others = await takenByStored(ctx, write)
        for (const [uid, taken] of seen) others.set(uid, taken)
        others.delete(object.metadata.uid ?? "")
        refuseExcess(write, { names, limits, wanted, before, others: [...others.values()] })
      }
    } finally {
      this.#readers.delete(seen)
    }
    // Nothing is awaited between the check and this.
    return takes ? this.#begin(object.metadata.uid ?? "", wanted) : undefined
  }

  #begin(uid: string, wanted: Taken): Claim {
    this.#underWay.set(uid, wanted)
    for (const seen of this.#readers) seen.set(uid, wanted)
    const end = (): void => {
      // Another write of the object may have begun later.
      if (this.#underWay.get(uid) === wanted) this.#underWay.delete(uid)
    }
    return { commit: end, rollback: () => Promise.resolve(end()) }
  }
}

/** The gateway creates it itself, and a tenant without it does not work. It counts. */
function isKubernetesService({ resource, object: { metadata } }: Write): boolean {
  return resource === serviceKind && metadata.namespace === "default" && metadata.name === "kubernetes"
}

const serviceWrite = (service: Service, current: Service | undefined): Write => ({
  resource: serviceKind,
  object: service,
  current,
  takenBy: servicesTaken,
})

/** If no limit is near, the objects need not be read: each takes at most one of what this is used for. */
async function countStored({ controlPlane }: RequestContext, { resource }: Write): Promise<number> {
  const prefix = storagePrefixOf(resource.group, resource.resource)
  const { remaining = Infinity } = await controlPlane.store.range(prefix, { limit: 0, count: true })
  return remaining
}

/** By uid. */
async function takenByStored(ctx: RequestContext, { resource, takenBy }: Write): Promise<Map<string, Taken>> {
  const { items } = await builtIn(ctx, resource).list(ctx, {})
  const all = new Map<string, Taken>()
  for (const item of items) {
    const stored = item.object()
    all.set(stored.metadata.uid ?? "", takenBy(stored))
  }
  return all
}

interface Amounts {
  names: readonly TakenName[]
  limits: Taken
  wanted: Taken
  before: Taken
  others: readonly Taken[]
}

/** With the wording of a ResourceQuota's error. */
function refuseExcess({ resource, object }: Write, { names, limits, wanted, before, others }: Amounts): void {
  const used = (name: TakenName): number => others.reduce((sum, taken) => sum + of(taken, name), of(before, name))
  const requested = (name: TakenName): number => of(wanted, name) - of(before, name)
  const exceeded = names.filter((name) => used(name) + requested(name) > of(limits, name)).sort()
  if (exceeded.length === 0) return
  const print = (amount: (name: TakenName) => number): string =>
    exceeded.map((name) => `${name}=${amount(name)}`).join(",")
  const limited = print((name) => of(limits, name))
  const detail = `exceeded quota: tenant, requested: ${print(requested)}, used: ${print(used)}, limited: ${limited}`
  throw forbidden(resource, object.metadata.name ?? "", detail)
}

const of = (taken: Taken, name: TakenName): number => taken[name] ?? 0
