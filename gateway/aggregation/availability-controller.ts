// Checks the availability of the servers of a control plane's aggregated APIs, and writes it to the conditions of their APIServices.
// Keeps what the servers list. Source: k8s.io/kube-aggregator/pkg/controllers/status/remote.

import { type Json, timestamp } from "../../apimachinery/object.ts"
import { isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { checkAvailability, type Availability } from "./availability.ts"
import type { ListedResource } from "./listed-resources.ts"
import type { RemoteAnswer, RemoteGet } from "./remote.ts"
import { readServed } from "./server-discovery.ts"
import { type APIService, apiServices, isAvailable, isRemote, withAvailability } from "../../client/api-services.ts"

const availabilityLimits = {
  /** Interval of availability checks. */
  checkEveryMs: 30_000,
  /** Delay after a change of a Service or its endpoints: there may be several. */
  recheckMs: 100,
  /** Delay after a failed check, which increases up to checkEveryMs. */
  retryFirstMs: 250,
  /** Number of servers that are checked at the same time. */
  concurrentChecks: 8,
  /** Maximum size of a server's discovery document. Beyond: it counts as unavailable. */
  maxDocumentBytes: 1024 * 1024,
  /** The same for the documents of all servers of a control plane: what they list stays in memory. */
  maxDocumentsBytes: 4 * 1024 * 1024,
  /** Maximum length of the addresses of a server's OpenAPI documents, and of the paths they are for. Beyond: the rest is omitted. */
  maxAddressesLength: 64 * 1024,
} as const

interface AvailabilityControllerParts {
  /** All APIServices with a server. */
  services(): Promise<readonly APIService[]>
  /** Calls the server of one, as the aggregator itself. */
  get(service: APIService, request: RemoteGet): Promise<RemoteAnswer>
  /** The same, for a document of OpenAPI. */
  getOpenAPI(service: APIService, request: RemoteGet): Promise<RemoteAnswer>
  client(): KubeClient
  log: Log
  /** Ends the checks. */
  signal: AbortSignal
}

/** How often an API became unavailable for a reason. */
export interface Outages {
  name: string
  reason: string
  count: number
}

/** The addresses of a server's OpenAPI v3 documents, by path; "absent": it has none, but maybe one of version 2. */
type KnownOpenAPI = ReadonlyMap<string, string> | "absent"

/** What the last checks of a server have found. */
interface KnownServer {
  resources: readonly ListedResource[]
  /** The length of the document that lists them. */
  bytes: number
  openAPI: KnownOpenAPI | undefined
  /** It says now what it serves. */
  isCurrent: boolean
}

export class AvailabilityController implements AsyncDisposable {
  readonly #parts: AvailabilityControllerParts
  /** By the name of the APIService. */
  readonly #known = new Map<string, KnownServer>()
  readonly #running = new Map<string, Promise<boolean>>()
  readonly #outages = new Map<string, Outages>()
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  /** Something has changed since the last check began. */
  #isDue = false
  /** The specs at the last check; other changes need no new check. */
  #checkedSpecs = ""

  constructor(parts: AvailabilityControllerParts) {
    this.#parts = parts
  }

  known({ metadata }: APIService): KnownServer | undefined {
    return this.#known.get(metadata.name ?? "")
  }

  /** Since the control plane was opened. */
  get outages(): Outages[] {
    return [...this.#outages.values()]
  }

  /** Call after each change of an APIService. From the first call on, the servers are checked. */
  changed(): void {
    void this.#parts.services().then(
      (services) => {
        const specs = JSON.stringify(services.map(({ metadata, spec }) => [metadata.uid, spec]))
        if (specs === this.#checkedSpecs) return
        this.#checkedSpecs = specs
        this.#failures = 0
        this.#isDue = true
        this.#schedule(0)
      },
      () => undefined, // the store is closing
    )
  }

  /** Call when something has changed on which the availability may depend. */
  recheck(): void {
    if (this.#isDue) return
    this.#failures = 0
    this.#isDue = true
    this.#schedule(availabilityLimits.recheckMs)
  }

  /** Checks those that have never been checked. Resolves when they have. */
  async checkNew(services: readonly APIService[]): Promise<void> {
    const unknown = services.filter((service) => this.known(service) === undefined)
    await this.#checkEach(unknown, (service) => this.#running.get(service.metadata.name ?? "") ?? this.#check(service))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer)
    await this.#checking
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer)
    if (this.#parts.signal.aborted) return
    this.#timer = setTimeout(() => {
      // One run at a time; the next one covers changes made meanwhile.
      this.#checking = (this.#checking ?? Promise.resolve()).then(() => this.#checkAll())
    }, delayMs).unref()
  }

  async #checkAll(): Promise<void> {
    if (this.#parts.signal.aborted) return
    this.#isDue = false
    try {
      const services = await this.#parts.services()
      const names = new Set(services.map(({ metadata }) => metadata.name ?? ""))
      for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name)
      for (const [key, { name }] of this.#outages) if (!names.has(name)) this.#outages.delete(key)
      if (services.length === 0) return
      this.#failures = (await this.#checkEach(services)) ? 0 : this.#failures + 1
      const { checkEveryMs, retryFirstMs } = availabilityLimits
      const delay = this.#failures === 0 ? checkEveryMs : retryFirstMs * 2 ** (this.#failures - 1)
      // Checks that became due meanwhile are not delayed.
      this.#schedule(this.#isDue ? 0 : Math.min(delay, checkEveryMs))
    } catch (error) {
      if (this.#parts.signal.aborted) return
      this.#parts.log.warn({ err: error }, "checking aggregated APIs failed")
      this.#schedule(this.#isDue ? 0 : availabilityLimits.checkEveryMs)
    }
  }

  /** Returns true if all are available. */
  async #checkEach(
    services: readonly APIService[],
    check: (service: APIService) => Promise<boolean> = (service) => this.#check(service),
  ): Promise<boolean> {
    const waiting = services.values()
    let areAvailable = true
    const checkNext = async (): Promise<void> => {
      for (const service of waiting) areAvailable = (await check(service)) && areAvailable
    }
    await Promise.all(Array.from({ length: availabilityLimits.concurrentChecks }, checkNext))
    return areAvailable
  }

  /** Returns true if it is available. */
  #check(service: APIService): Promise<boolean> {
    const name = service.metadata.name ?? ""
    const running = this.#checkOnce(service, name).finally(() => {
      if (this.#running.get(name) === running) this.#running.delete(name)
    })
    this.#running.set(name, running)
    return running
  }

  async #checkOnce(service: APIService, name: string): Promise<boolean> {
    const reader = this.#parts.client()
    const get = (request: Pick<RemoteGet, "path" | "headers">): Promise<RemoteAnswer> =>
      this.#parts.get(service, { ...request, maxBytes: availabilityLimits.maxDocumentBytes })
    const checked = await checkAvailability({ reader, get: (path) => get({ path }) }, service)
    const answer = checked?.answer
    const served = answer === undefined ? undefined : await readServed(get, service, answer)
    if (this.#parts.signal.aborted) return true
    const hasRoom = this.#hasRoomFor(name, served?.bytes ?? 0)
    const verdict = hasRoom ? checked : noRoom
    // As upstream, nothing is known of a server that does not say it now.
    const { resources, bytes } = hasRoom && served !== undefined ? served : { resources: [], bytes: 0 }
    const before = this.#known.get(name)
    const about = { resources, bytes, isCurrent: hasRoom && served !== undefined }
    // Before anything else is awaited: other checks count it.
    this.#known.set(name, { ...about, openAPI: before?.openAPI })
    if (verdict === undefined) return false // its condition stays
    const isPassed = verdict.status === "True"
    const openAPI = (isPassed ? await this.#openAPIOf(service) : undefined) ?? before?.openAPI
    this.#known.set(name, { ...about, openAPI })
    if (await writeCondition(this.#parts.client(), name, verdict)) this.#countOutage(name, verdict.reason)
    return isPassed
  }

  #hasRoomFor(name: string, bytes: number): boolean {
    let total = bytes
    for (const [other, known] of this.#known) if (other !== name) total += known.bytes
    return total <= availabilityLimits.maxDocumentsBytes
  }

  /** OpenAPI is optional. */
  async #openAPIOf(service: APIService): Promise<KnownOpenAPI | undefined> {
    const request = { path: "/openapi/v3", maxBytes: availabilityLimits.maxDocumentBytes }
    try {
      const { code, document } = await this.#parts.getOpenAPI(service, request)
      if (code === 404) return "absent"
      return code === 200 ? addressesIn(document) : undefined
    } catch {
      return undefined // the server has just answered other requests, so the next check retries
    }
  }

  #countOutage(name: string, reason: string): void {
    const key = `${name} ${reason}`
    const outages = this.#outages.get(key) ?? { name, reason, count: 0 }
    outages.count++
    this.#outages.set(key, outages)
  }
}

function addressesIn(document: Json | undefined): ReadonlyMap<string, string> {
  const { paths } = (document ?? {}) as { paths?: Record<string, { serverRelativeURL?: unknown } | null> | null }
  const found = new Map<string, string>()
  let room: number = availabilityLimits.maxAddressesLength
  for (const [path, about] of Object.entries(paths ?? {})) {
    const address = about?.serverRelativeURL
    if (typeof address !== "string") continue
    room -= path.length + address.length
    if (room < 0) break
    found.set(path, address)
  }
  return found
}

const noRoom: Availability = {
  status: "False",
  reason: "FailedDiscoveryCheck",
  message: `the aggregated APIs list more resources than fit into ${availabilityLimits.maxDocumentsBytes} bytes`,
}

/** Returns true if the API was available before and no longer is. */
async function writeCondition(client: KubeClient, name: string, verdict: Availability): Promise<boolean> {
  try {
    const current = await client.get<APIService>(apiServices, undefined, name)
    if (!isRemote(current)) return false
    const changed = withAvailability(current, verdict, timestamp())
    if (changed === undefined) return false
    await client.update(apiServices, changed, { subresource: "status" })
    return verdict.status !== "True" && isAvailable(current)
  } catch (error) {
    // Changed or deleted meanwhile; the next check writes the then current condition.
    if (!isConflict(error) && !isNotFound(error)) throw error
    return false
  }
}
