// The flow schemas and priority levels of one control plane, in step with its store: what its requests are classified by.
// Read with the first request. Nearly all have those that every control plane is born with, which are parsed once for all.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { Log } from "../../../client/log.ts"
import type { KeyValue, Store, Watcher } from "../../../storage/types.ts"
import { storagePrefixOf } from "../keys.ts"
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

/** What a base layer holds was there before the first write. */
const baseRevision = 1

export class FlowView implements AsyncDisposable {
  readonly #options: FlowViewOptions
  #opening: Promise<Flows> | undefined
  #flows: Flows | undefined
  #watcher: Watcher | undefined
  #following: Promise<void> | undefined

  constructor(options: FlowViewOptions) {
    this.#options = options
  }

  /** At once, but for the first time. Sees every acknowledged write. */
  current(): Flows | Promise<Flows> {
    if (this.#flows !== undefined) return this.#flows
    this.#opening ??= this.#read().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #read(): Promise<Flows> {
    const { store, baseObject, baseUid } = this.#options
    const { items, revision } = await store.range(prefix)
    const objects = new FlowObjects(baseUid)
    for (const item of items) {
      const shared = item.modRevision === baseRevision ? baseObject(item.key) : undefined
      objects.add(shared === undefined ? flowOf(item) : sharedFlow(item.key, shared))
    }
    const watcher = store.watch(prefix, { after: revision })
    this.#watcher = watcher
    this.#following = this.#follow(watcher, objects)
    return (this.#flows = objects.flows())
  }

  /** When the watch cannot go on, the next question reads everything anew. */
  async #follow(watcher: Watcher, objects: FlowObjects): Promise<void> {
    try {
      for await (const events of watcher) {
        for (const { type, current } of events) {
          if (type === "put") objects.add(flowOf(current))
          else objects.delete(current.key)
        }
        this.#flows = objects.flows()
      }
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, "watch of flow schemas ended, reading them again")
    } finally {
      if (this.#watcher === watcher) this.#opening = this.#flows = undefined
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opening?.catch(() => undefined) // already told to whoever asked
    this.#watcher?.close()
    await this.#following
  }
}

const sharedFlows = new WeakMap<KubeObject, FlowObject>()

function sharedFlow(key: string, object: KubeObject): FlowObject {
  let flow = sharedFlows.get(object)
  if (flow === undefined) sharedFlows.set(object, (flow = { ...partsOf(object), key, uid: undefined }))
  return flow
}

function flowOf({ key, value }: KeyValue): FlowObject {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  const object = JSON.parse(text) as KubeObject
  return { ...partsOf(object), key, uid: object.metadata.uid ?? "" }
}

function partsOf(object: KubeObject): Pick<FlowObject, "name" | "spec"> {
  const { spec = {} } = object as KubeObject & { spec?: FlowSchemaSpec }
  return { name: object.metadata.name ?? "", spec }
}

class FlowObjects {
  readonly #schemas = new Map<string, FlowObject>()
  readonly #levels = new Map<string, FlowObject>()
  readonly #baseUid: (key: string) => string

  constructor(baseUid: (key: string) => string) {
    this.#baseUid = baseUid
  }

  add(flow: FlowObject): void {
    this.#of(flow.key)?.set(flow.name, flow)
  }

  delete(key: string): void {
    this.#of(key)?.delete(key.slice(key.lastIndexOf("/") + 1))
  }

  #of(key: string): Map<string, FlowObject> | undefined {
    if (key.startsWith(schemasPrefix)) return this.#schemas
    return key.startsWith(levelsPrefix) ? this.#levels : undefined
  }

  flows(): Flows {
    return new Flows([...this.#schemas.values()], this.#levels, this.#baseUid)
  }
}
