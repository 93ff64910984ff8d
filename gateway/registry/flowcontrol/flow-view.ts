// The flow schemas and priority levels of one control plane, in step with its store (store-view.ts): what its requests are
// classified by. Read with the first request. Nearly all have those that every control plane is born with, which are parsed
// once for all.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Log } from "../../../client/log.ts"
import { baseRevision } from "../../../storage/base-layer.ts"
import type { KeyValue, Store } from "../../../storage/types.ts"
import { storagePrefixOf } from "../keys.ts"
import { parseStored, StoreView } from "../store-view.ts"
import { type FlowObject, Flows, type FlowSchemaSpec } from "./classification.ts"

const group = "flowcontrol.apiserver.k8s.io"
const prefix = `/registry/${group}/`
const schemasPrefix = storagePrefixOf(group, "flowschemas")
const levelsPrefix = storagePrefixOf(group, "prioritylevelconfigurations")

export interface FlowViewOptions {
  store: Store
  /** What lies in the base layer: parsed, shared by all control planes, without uids. */
  baseObject: (key: string) => KubeObject | undefined
  baseUid: (key: string) => string
  log: Log
}

export class FlowView implements AsyncDisposable {
  readonly #view: StoreView<FlowObjects>

  constructor({ store, baseObject, baseUid, log }: FlowViewOptions) {
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
        return objects
      },
      apply(objects, events) {
        for (const { type, current } of events) {
          if (type === "put") objects.add(flowOf(current))
          else objects.delete(current.key)
        }
      },
    })
  }

  /** At once, but for the first time. Sees every acknowledged write. */
  current(): Flows | Promise<Flows> {
    return this.#view.state?.flows() ?? this.#view.opened().then((objects) => objects.flows())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#view[Symbol.asyncDispose]()
  }
}

const sharedFlows = new WeakMap<KubeObject, FlowObject>()

function sharedFlow(key: string, object: KubeObject): FlowObject {
  let flow = sharedFlows.get(object)
  if (flow === undefined) sharedFlows.set(object, (flow = { ...partsOf(object), key, uid: undefined }))
  return flow
}

function flowOf(item: KeyValue): FlowObject {
  const object = parseStored(item) as KubeObject
  return { ...partsOf(object), key: item.key, uid: object.metadata.uid ?? "" }
}

function partsOf(object: KubeObject): Pick<FlowObject, "name" | "spec"> {
  const { spec = {} } = object as KubeObject & { spec?: FlowSchemaSpec }
  return { name: object.metadata.name ?? "", spec }
}

class FlowObjects {
  readonly #schemas = new Map<string, FlowObject>()
  readonly #levels = new Map<string, FlowObject>()
  readonly #baseUid: (key: string) => string
  /** Made of them when somebody asks. */
  #flows: Flows | undefined

  constructor(baseUid: (key: string) => string) {
    this.#baseUid = baseUid
  }

  add(flow: FlowObject): void {
    this.#flows = undefined
    this.#of(flow.key)?.set(flow.name, flow)
  }

  delete(key: string): void {
    this.#flows = undefined
    this.#of(key)?.delete(key.slice(key.lastIndexOf("/") + 1))
  }

  #of(key: string): Map<string, FlowObject> | undefined {
    if (key.startsWith(schemasPrefix)) return this.#schemas
    return key.startsWith(levelsPrefix) ? this.#levels : undefined
  }

  flows(): Flows {
    this.#flows ??= new Flows([...this.#schemas.values()], this.#levels, this.#baseUid)
    return this.#flows
  }
}
