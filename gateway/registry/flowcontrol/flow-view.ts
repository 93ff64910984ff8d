// A view of the flow schemas and priority levels of one control plane (store-view.ts), which classifies its requests. It is read at
// the first request. Nearly all control planes have only the bootstrap objects, which are parsed once for all. The view detects
// schemas with a missing priority level and updates the condition in their status, and it keeps the initial objects (upkeep.ts).

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Log } from "../../../client/log.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { baseRevision } from "../../../storage/base-layer.ts"
import type { KeyValue, Store } from "../../../storage/types.ts"
import { Reconciliation } from "../../control-plane/reconciliation.ts"
import { groupPrefixOf, nameInKey } from "../generic/storage/keys.ts"
import { parseStored, StoreView } from "../generic/storage/store-view.ts"
import { comparePrecedence, type FlowObject, Flows, type FlowSchemaSpec, indexRules } from "./classification.ts"
import { type Dangling, danglingOf, isSame, writeDanglingCondition } from "./dangling.ts"
import { correctFlow, flowGroup, type InitialFlows, isToCorrect, levelsPrefix, schemasPrefix } from "./upkeep.ts"

const prefix = groupPrefixOf(flowGroup)
/** As upstream, so that it does not work against a client that always does the opposite. */
const keptEveryMs = 60_000

interface FlowViewOptions {
  store: Store
  /** A parsed object of the base layer, shared by all control planes, without its uid. */
  baseObject: (key: string) => KubeObject | undefined
  baseUid: (key: string) => string
  /** The objects to keep. */
  initial: InitialFlows
  client: () => KubeClient
  log: Log
}

export class FlowView implements AsyncDisposable {
  readonly #view: StoreView<FlowObjects>
  readonly #conditions: Reconciliation
  readonly #upkeep: Reconciliation

  constructor({ store, baseObject, baseUid, initial, client, log }: FlowViewOptions) {
    this.#upkeep = new Reconciliation({
      reconcile: async (signal) => {
        for (const key of this.#view.state?.toCorrect(initial) ?? []) {
          if (!signal.aborted) await correctFlow(client(), key, initial.get(key))
        }
      },
      everyMs: keptEveryMs,
      failure: "initial flow schemas and priority levels are not up to date",
      log,
    })
    this.#conditions = new Reconciliation({
      reconcile: async (signal) => {
        for (const [name, dangling] of new Map(this.#view.state?.outdatedConditions())) {
          if (!signal.aborted) await writeDanglingCondition(client(), name, dangling)
        }
      },
      failure: "conditions of flow schemas are not up to date",
      log,
    })
    this.#view = new StoreView<FlowObjects>({
      store,
      prefix,
      log,
      create: () => new FlowObjects(baseUid),
      put(objects, item) {
        const shared = item.modRevision === baseRevision ? baseObject(item.key) : undefined
        objects.add(shared === undefined ? flowOf(item, initial.get(item.key)) : sharedFlow(item.key, shared))
      },
      delete: (objects, key) => objects.delete(key),
      changed: (objects) => {
        if (objects.outdatedConditions().size > 0) this.#conditions.due()
        if (objects.toCorrect(initial).length > 0) this.#upkeep.due()
      },
    })
  }

  /** Synchronous except for the first call. Contains every acknowledged write. */
  current(): Flows | Promise<Flows> {
    return this.#view.state?.flows() ?? this.#view.opened().then((objects) => objects.flows())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#conditions[Symbol.asyncDispose]()
    await this.#upkeep[Symbol.asyncDispose]()
    await this.#view[Symbol.asyncDispose]()
  }
}

/** With the condition from its status, which levels do not have. */
interface KnownFlow extends FlowObject {
  dangling: Dangling | undefined
  isToCorrect: boolean
}

const sharedFlows = new WeakMap<KubeObject, KnownFlow>()

function sharedFlow(key: string, object: KubeObject): KnownFlow {
  let flow = sharedFlows.get(object)
  if (flow === undefined)
    sharedFlows.set(object, (flow = { ...partsOf(object), key, uid: undefined, isToCorrect: false }))
  return flow
}

function flowOf(item: KeyValue, initial: KubeObject | undefined): KnownFlow {
  const object = parseStored(item) as KubeObject
  const uid = object.metadata.uid ?? ""
  return { ...partsOf(object), key: item.key, uid, isToCorrect: isToCorrect(object, initial) }
}

function partsOf(object: KubeObject): Pick<KnownFlow, "name" | "spec" | "rules" | "dangling"> {
  const { spec = {}, status } = object as KubeObject & { spec?: FlowSchemaSpec; status?: { conditions?: Dangling[] } }
  const { rules, ...described } = spec
  const dangling = status?.conditions?.find(({ type }) => type === "Dangling")
  return { name: object.metadata.name ?? "", spec: described, rules: indexRules(rules), dangling }
}

/** What a change of one object changes is computed for this object alone: a tenant may have thousands of schemas. */
class FlowObjects {
  readonly #schemas = new Map<string, KnownFlow>()
  /** The same in order, except for what has changed since the flows were made last, so that ordering them again is cheap. */
  readonly #ordered: KnownFlow[] = []
  readonly #levels = new Map<string, KnownFlow>()
  readonly #baseUid: (key: string) => string
  /** Computed on demand. */
  #flows: Flows | undefined
  readonly #outdated = new Map<string, Dangling>()
  readonly #toCorrect = new Set<string>()

  constructor(baseUid: (key: string) => string) {
    this.#baseUid = baseUid
  }

  add(flow: KnownFlow): void {
    const objects = this.#of(flow.key)
    const previous = objects?.get(flow.name)
    objects?.set(flow.name, flow)
    if (objects === this.#schemas) this.#replace(previous, flow)
    if (flow.isToCorrect) this.#toCorrect.add(flow.key)
    else this.#toCorrect.delete(flow.key)
    this.#changed(flow.key, previous === undefined)
  }

  delete(key: string): void {
    const objects = this.#of(key)
    const previous = objects?.get(nameInKey(key))
    objects?.delete(nameInKey(key))
    if (objects === this.#schemas) this.#replace(previous)
    this.#toCorrect.delete(key)
    this.#changed(key, previous !== undefined)
  }

  #replace(previous: KnownFlow | undefined, ...flows: KnownFlow[]): void {
    if (previous === undefined) this.#ordered.push(...flows)
    else this.#ordered.splice(this.#ordered.indexOf(previous), 1, ...flows)
  }

  /** `isLevels`: there is a level more or less, if it is one. */
  #changed(key: string, isLevels: boolean): void {
    this.#flows = undefined
    const name = nameInKey(key)
    if (key.startsWith(schemasPrefix)) this.#examine(name)
    else if (isLevels) {
      for (const schema of this.#schemas.values()) if (levelOf(schema) === name) this.#examine(schema.name)
    }
  }

  #examine(name: string): void {
    const schema = this.#schemas.get(name)
    const level = schema === undefined ? "" : levelOf(schema)
    const wanted = danglingOf(level, this.#levels.has(level))
    if (schema === undefined || isSame(wanted, schema.dangling)) this.#outdated.delete(name)
    else this.#outdated.set(name, wanted)
  }

  #of(key: string): Map<string, KnownFlow> | undefined {
    if (key.startsWith(schemasPrefix)) return this.#schemas
    return key.startsWith(levelsPrefix) ? this.#levels : undefined
  }

  /** Schemas whose condition is wrong, by name, and the correct condition. */
  outdatedConditions(): ReadonlyMap<string, Dangling> {
    return this.#outdated
  }

  /** The keys of objects that are missing, wrong or superfluous. */
  toCorrect(initial: InitialFlows): string[] {
    const missing = [...initial.keys()].filter((key) => this.#of(key)?.has(nameInKey(key)) !== true)
    return [...missing, ...this.#toCorrect]
  }

  flows(): Flows {
    this.#flows ??= new Flows([...this.#ordered.sort(comparePrecedence)], this.#levels, this.#baseUid)
    return this.#flows
  }
}

const levelOf = ({ spec }: KnownFlow): string => spec.priorityLevelConfiguration?.name ?? ""
