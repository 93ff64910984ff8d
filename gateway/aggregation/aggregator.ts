// The aggregated APIs of one control plane: the group versions that other servers serve, their availability, and their resources.
// It starts with the first APIService with a Service; its checks end with the control plane and do not keep it awake.

import { type Json, timestamp } from "../../apimachinery/object.ts"
import {
  isConflict,
  isNotFound,
  noSuchPath,
  serviceUnavailable,
  type Status,
  StatusError,
} from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Store } from "../../storage/types.ts"
import { controlPlaneClosed } from "../control-plane/ending.ts"
import type { Backends } from "../backends/backends.ts"
import type { User } from "../request/user.ts"
import { ObjectView } from "../registry/generic/storage/object-view.ts"
import { checkAvailability, type Availability } from "./availability.ts"
import type { FrontProxy } from "./front-proxy.ts"
import { type ListedResource, resourcesOf } from "./listed-resources.ts"
import { aggregatorUser, callRemote, type RemoteCall, type RemoteTarget, remoteTarget } from "./remote.ts"
import { type APIService, apiServices, availableCondition, isAvailable, isRemote } from "./types.ts"

const aggregationLimits = {
  /** Interval of availability checks. */
  checkEveryMs: 30_000,
  /** Delay after a failed check, which increases up to checkEveryMs. */
  retryFirstMs: 250,
  /** Number of servers that are checked at the same time. */
  concurrentChecks: 8,
  /** Timeout of a server's discovery document. */
  documentTimeoutMs: 5_000,
  /** Maximum size of a server's discovery document. Beyond: it counts as unavailable. */
  maxDocumentBytes: 1024 * 1024,
  /** The same for the documents of all servers of a control plane: what they list stays in memory. */
  maxDocumentsBytes: 4 * 1024 * 1024,
  /** Maximum length of the address of a server's OpenAPI document. Beyond: it has none. */
  maxAddressLength: 2048,
} as const

export interface AggregatorParts {
  store: Store
  backends: Backends
  frontProxy: FrontProxy
  client: () => KubeClient
  log: Log
}

/** A group version as in discovery. */
export interface AggregatedVersion {
  group: string
  version: string
  groupPriority: number
  versionPriority: number
  isCurrent: boolean
  /** The resources of the server's last APIResourceList. */
  resources: readonly ListedResource[]
}

/** How often an API became unavailable for a reason. */
export interface Outages {
  name: string
  reason: string
  count: number
}

interface Known {
  resources: readonly ListedResource[]
  /** The length of the document that lists them. */
  bytes: number
  /** The address of its OpenAPI v3 document. */
  openAPI: string | undefined
  isCurrent: boolean
}

export class Aggregator implements AsyncDisposable {
  readonly #parts: AggregatorParts
  readonly #view: ObjectView<APIService>
  readonly #known = new Map<string, Known>()
  readonly #outages = new Map<string, Outages>()
  readonly #ending = new AbortController()
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #isOpen = false
  /** Something has changed since the last check began. */
  #isDue = false
  /** The specs at the last check; other changes need no new check. */
  #checkedSpecs = ""

  constructor(parts: AggregatorParts) {
    this.#parts = parts
    const { store, log } = parts
    const prefix = `/registry/${apiServices.group}/${apiServices.resource}/`
    this.#view = new ObjectView({ store, log, prefix, onChange: () => this.#changed() })
  }

  /** The APIService of an aggregated group version. */
  async find(group: string, version: string): Promise<APIService | undefined> {
    return (await this.remote()).find(({ spec }) => spec?.group === group && spec.version === version)
  }

  /** From now on availability is checked. */
  async remote(): Promise<readonly APIService[]> {
    const all = await this.#view.current()
    if (!this.#isOpen) {
      this.#isOpen = true
      this.#changed()
    }
    return all.filter(isRemote)
  }

  /** The current versions, also if the control plane has just been opened and nothing has been checked yet. */
  async checkedVersions(): Promise<readonly AggregatedVersion[]> {
    await this.#checkEach((await this.remote()).filter(({ metadata }) => !this.#known.has(metadata.name ?? "")))
    return this.versions()
  }

  async versions(): Promise<readonly AggregatedVersion[]> {
    return (await this.remote()).map(({ metadata, spec }) => {
      const { group = "", version = "", groupPriorityMinimum = 0, versionPriority = 0 } = spec ?? {}
      const { resources = [], isCurrent = false } = this.#known.get(metadata.name ?? "") ?? {}
      return { group, version, groupPriority: groupPriorityMinimum, versionPriority, isCurrent, resources }
    })
  }

  /** All APIServices, including those of local resources. */
  async availability(): Promise<{ name: string; isAvailable: boolean }[]> {
    const all = await this.#view.current()
    return all.map((service) => ({ name: service.metadata.name ?? "", isAvailable: isAvailable(service) }))
  }

  /** Since the control plane was opened. */
  get outages(): Outages[] {
    return [...this.#outages.values()]
  }

  /** The entries for the index of OpenAPI v3, by path, from the servers' last responses. */
  async openAPIPaths(): Promise<Readonly<Record<string, Json>>> {
    const services = await this.remote()
    const entries = services.flatMap(({ metadata, spec }): [string, Json][] => {
      const serverRelativeURL = this.#known.get(metadata.name ?? "")?.openAPI
      return serverRelativeURL === undefined ? [] : [[`apis/${spec?.group}/${spec?.version}`, { serverRelativeURL }]]
    })
    return Object.fromEntries(entries)
  }

  target(service: APIService): Promise<RemoteTarget> {
    return remoteTarget(this.#parts.backends, this.#parts.frontProxy, service)
  }

  /**
   * Calls from within the process: for requests of this control plane's controllers to aggregated APIs (metrics, remaining objects
   * of a namespace). Errors are those of client-go (NewGenericServerResponse in k8s.io/apimachinery/pkg/api/errors).
   */
  async call(request: RemoteCall, user: User): Promise<unknown> {
    const { path } = request
    const [, group = "", version = ""] = /^\/apis\/([^/?]+)\/([^/?]+)/.exec(path) ?? []
    const service = await this.find(group, version)
    if (service === undefined) throw noSuchPath()
    if (!isAvailable(service)) throw unableToHandle()
    const { code, document } = await this.#call(service, request, user).catch((error: unknown) => {
      throw unableToHandle(error)
    })
    if (code >= 200 && code <= 299 && document !== undefined) return document
    const status = document as { kind?: string } | null | undefined
    if (status?.kind === "Status") throw new StatusError(status as Status)
    throw code === 503 ? unableToHandle() : serviceUnavailable(`the server answered ${code} for ${path}`)
  }

  async #call(service: APIService, request: RemoteCall, user: User) {
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(aggregationLimits.documentTimeoutMs)])
    return callRemote(await this.target(service), request, user, signal)
  }

  #get(service: APIService, path: string) {
    const { maxDocumentBytes } = aggregationLimits
    return this.#call(service, { method: "GET", path, maxAnswerBytes: maxDocumentBytes }, aggregatorUser)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(controlPlaneClosed)
    clearTimeout(this.#timer)
    await this.#checking
    await this.#view[Symbol.asyncDispose]()
  }

  #changed(): void {
    void this.#view.current().then(
      (all) => {
        const specs = JSON.stringify(all.filter(isRemote).map(({ metadata, spec }) => [metadata.uid, spec]))
        if (specs === this.#checkedSpecs) return
        this.#checkedSpecs = specs
        this.#failures = 0
        this.#isDue = true
        this.#schedule(0)
      },
      () => undefined, // the store is closing
    )
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    if (this.#ending.signal.aborted) return
    this.#timer = setTimeout(() => {
      // One run at a time; the next one covers changes made meanwhile.
      this.#checking = (this.#checking ?? Promise.resolve()).then(() => this.#checkAll())
    }, delayMs).unref()
  }

  async #checkAll(): Promise<void> {
    if (this.#ending.signal.aborted) return
    this.#isDue = false
    try {
      const services = (await this.#view.current()).filter(isRemote)
      const names = new Set(services.map(({ metadata }) => metadata.name ?? ""))
      for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
      for (const [key, { name }] of this.#outages) if (!names.has(name)) this.#outages.delete(key)
      if (services.length === 0) return
      this.#failures = (await this.#checkEach(services)) ? 0 : this.#failures + 1
      const { checkEveryMs, retryFirstMs } = aggregationLimits
      const delay = this.#failures === 0 ? checkEveryMs : retryFirstMs * 2 ** (this.#failures - 1)
      // Checks that became due meanwhile are not delayed.
      this.#schedule(this.#isDue ? 0 : Math.min(delay, checkEveryMs))
    } catch (error) {
      if (this.#ending.signal.aborted) return
      this.#parts.log.warn({ err: error }, "checking aggregated APIs failed")
      this.#schedule(this.#isDue ? 0 : aggregationLimits.checkEveryMs)
    }
  }

  /** Returns true if all are available. */
  async #checkEach(services: readonly APIService[]): Promise<boolean> {
    const waiting = services.values()
    let areAvailable = true
    const checkNext = async (): Promise<void> => {
      for (const service of waiting) areAvailable = (await this.#check(service)) && areAvailable
    }
    await Promise.all(Array.from({ length: aggregationLimits.concurrentChecks }, checkNext))
    return areAvailable
  }

  /** Returns true if it is available. */
  async #check(service: APIService): Promise<boolean> {
    const name = service.metadata.name ?? ""
    const reader = this.#parts.client()
    const answer = await checkAvailability({ reader, get: (...request) => this.#get(...request) }, service)
    if (this.#ending.signal.aborted) return true
    const verdict = this.#hasRoomFor(name, answer.bytes ?? 0) ? answer : noRoom
    const isCurrent = verdict.status === "True"
    const before = this.#known.get(name)
    const listed = resourcesOf(verdict.resources)
    const { resources, bytes } =
      listed === undefined ? (before ?? { resources: [], bytes: 0 }) : { resources: listed, bytes: verdict.bytes ?? 0 }
    // Before anything else is awaited: other checks count it.
    this.#known.set(name, { resources, bytes, openAPI: before?.openAPI, isCurrent })
    const openAPI = (isCurrent ? await this.#openAPIOf(service) : undefined) ?? before?.openAPI
    this.#known.set(name, { resources, bytes, openAPI, isCurrent })
    await this.#writeCondition(name, verdict)
    return isCurrent
  }

  #hasRoomFor(name: string, bytes: number): boolean {
    let total = bytes
    for (const [other, known] of this.#known) if (other !== name) total += known.bytes
    return total <= aggregationLimits.maxDocumentsBytes
  }

  /** OpenAPI is optional. */
  async #openAPIOf(service: APIService): Promise<string | undefined> {
    const { group = "", version = "" } = service.spec ?? {}
    try {
      const { document } = await this.#get(service, "/openapi/v3")
      const { paths } = (document ?? {}) as { paths?: Record<string, { serverRelativeURL?: unknown } | null> | null }
      const address = paths?.[`apis/${group}/${version}`]?.serverRelativeURL
      const isUsable = typeof address === "string" && address.length <= aggregationLimits.maxAddressLength
      return isUsable ? address : undefined
    } catch {
      return undefined // the server has just answered other requests, so the next check retries
    }
  }

  async #writeCondition(name: string, { status, reason, message }: Availability): Promise<void> {
    const client = this.#parts.client()
    try {
      const current = await client.get<APIService>(apiServices, undefined, name)
      const before = availableCondition(current)
      if (!isRemote(current)) return
      if (before?.status === status && before.reason === reason && before.message === message) return
      const since = before?.status === status ? before.lastTransitionTime : undefined
      const condition = { type: "Available", status, lastTransitionTime: since ?? timestamp(), reason, message }
      const others = (current.status?.conditions ?? []).filter(({ type }) => type !== "Available")
      const conditions = [...others, condition]
      await client.update(
        apiServices,
        { ...current, status: { ...current.status, conditions } },
        { subresource: "status" },
      )
      if (status !== "True" && before?.status === "True") this.#countOutage(name, reason)
    } catch (error) {
      // Changed or deleted meanwhile; the next check writes the then current condition.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
  }

  #countOutage(name: string, reason: string): void {
    const key = `${name} ${reason}`
    const outages = this.#outages.get(key) ?? { name, reason, count: 0 }
    outages.count++
    this.#outages.set(key, outages)
  }
}

const noRoom: Availability = {
  status: "False",
  reason: "FailedDiscoveryCheck",
  message: `the aggregated APIs list more resources than fit into ${aggregationLimits.maxDocumentsBytes} bytes`,
}

function unableToHandle(cause?: unknown): StatusError {
  return serviceUnavailable("the server is currently unable to handle the request", { cause })
}
