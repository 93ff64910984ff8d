// The flow schemas and priority levels of one control plane, in step with its store (store-view.ts): what its requests are
// classified by. Read with the first request. Nearly all have those that every control plane is born with, which are parsed
// once for all. Who has them knows which schemas name a level that is not there, so it is told in their status from here.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Log } from "../../../client/log.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { baseRevision } from "../../../storage/base-layer.ts"
import type { KeyValue, Store } from "../../../storage/types.ts"
import { Reconciliation } from "../../reconciliation.ts"
import { storagePrefixOf } from "../keys.ts"
import { parseStored, StoreView } from "../store-view.ts"
import { type FlowObject, Flows, type FlowSchemaSpec } from "./classification.ts"
import { type Dangling, danglingOf, isSame, tellDangling } from "./dangling.ts"

const group = "flowcontrol.apiserver.k8s.io"
const prefix = `/registry/${group}/`
const schemasPrefix = storagePrefixOf(group, "flowschemas")
const levelsPrefix = storagePrefixOf(group, "prioritylevelconfigurations")

export interface FlowViewOptions {
  store: Store
  /** What lies in the base layer: parsed, shared by all control planes, without uids. */
  baseObject: (key: string) => KubeObject | undefined
  baseUid: (key: string) => string
  client: () => KubeClient
  log: Log
}

export class FlowView implements AsyncDisposable {
  readonly #view: StoreView<FlowObjects>
  readonly #conditions: Reconciliation

  constructor({ store, baseObject, baseUid, client, log }: FlowViewOptions) {
    this.#conditions = new Reconciliation({
      reconcile: async (signal) => {
        for (const [name, dangling] of this.#view.state?.untold() ?? []) {
          if (!signal.aborted) await tellDangling(client(), name, dangling)
        }
      },
      failure: "conditions of flow schemas are not up to date",
      log,
    })
    const check = (objects: FlowObjects): void => {
      if (objects.untold().length > 0) this.#conditions.due()
    }
    this.#view = new StoreView<FlowObjects>({
      store,
      prefix,
      log,
      read(items) {
        const objects = new FlowObjects(baseUid)
        for (const item of items) {
          const shared = item.modRevision === baseRevision ? baseObject(item.key) : undefined
          objects.add(shared === undefined ? flowOf(item) : sharedFlow(item.key, shared))
        }
        check(objects)
        return objects
      },
      apply(objects, events) {
        for (const { type, current } of events) {
          if (type === "put") objects.add(flowOf(current))
          else objects.delete(current.key)
        }
        check(objects)
      },
    })
  }

  /** At once, but for the first time. Sees every acknowledged write. */
  current(): Flows | Promise<Flows> {
    return this.#view.state?.flows() ?? this.#view.opened().then((objects) => objects.flows())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#conditions[Symbol.asyncDispose]()
    await this.#view[Symbol.asyncDispose]()
  }
}

/** With what its status tells, which levels have none of. */
interface KnownFlow extends FlowObject {
  dangling: Dangling | undefined
}

const sharedFlows = new WeakMap<KubeObject, KnownFlow>()

function sharedFlow(key: string, object: KubeObject): KnownFlow {
  let flow = sharedFlows.get(object)
  if (flow === undefined) sharedFlows.set(object, (flow = { ...partsOf(object), key, uid: undefined }))
  return flow
}

function flowOf(item: KeyValue): KnownFlow {
  const object = parseStored(item) as KubeObject
  return { ...partsOf(object), key: item.key, uid: object.metadata.uid ?? "" }
}

function partsOf(object: KubeObject): Pick<KnownFlow, "name" | "spec" | "dangling"> {
  const { spec = {}, status } = object as KubeObject & { spec?: FlowSchemaSpec; status?: { conditions?: Dangling[] } }
  const dangling = status?.conditions?.find(({ type }) => type === "Dangling")
  return { name: object.metadata.name ?? "", spec, dangling }
}

class FlowObjects {
  readonly #schemas = new Map<string, KnownFlow>()
  readonly #levels = new Map<string, KnownFlow>()
  readonly #baseUid: (key: string) => string
  /** Made of them when somebody asks. */
  #flows: Flows | undefined

  constructor(baseUid: (key: string) => string) {
    this.#baseUid = baseUid
  }

  add(flow: KnownFlow): void {
    this.#flows = undefined
    this.#of(flow.key)?.set(flow.name, flow)
  }

  delete(key: string): void {
    this.#flows = undefined
    this.#of(key)?.delete(key.slice(key.lastIndexOf("/") + 1))
  }

  #of(key: string): Map<string, KnownFlow> | undefined {
    if (key.startsWith(schemasPrefix)) return this.#schemas
    return key.startsWith(levelsPrefix) ? this.#levels : undefined
  }

  /** Schemas whose status does not tell, and what it should. */
  untold(): [name: string, dangling: Dangling][] {
    return [...this.#schemas.values()].flatMap(({ name, spec, dangling }): [string, Dangling][] => {
      const level = spec.priorityLevelConfiguration?.name ?? ""
      const wanted = danglingOf(level, this.#levels.has(level))
      return isSame(wanted, dangling) ? [] : [[name, wanted]]
    })
  }

  flows(): Flows {
    this.#flows ??= new Flows([...this.#schemas.values()], this.#levels, this.#baseUid)
    return this.#flows
  }
}
