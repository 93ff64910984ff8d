// The aggregated APIs of one control plane: the group versions that other servers serve, their availability, and their resources.
// It starts with the first APIService with a Service. The checks of the servers (availability-controller.ts) end with the control plane
// and do not keep it awake.

import { clientOver } from "../../client/http/client.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { Store } from "../../storage/types.ts"
import { controlPlaneClosed } from "../control-plane/ending.ts"
import type { Backends } from "../backends/backends.ts"
import type { User } from "../request/user.ts"
import { storagePrefixOf } from "../registry/generic/storage/keys.ts"
import type { ObjectView } from "../registry/generic/storage/object-view.ts"
import { AvailabilityController, type Outages } from "./availability-controller.ts"
import { BackingServices } from "./backing-services.ts"
import type { FrontProxy } from "./front-proxy.ts"
import type { ListedResource } from "./listed-resources.ts"
import { type Ranked, rankOf } from "./priorities.ts"
import {
  aggregatorUser,
  getRemote,
  openAPIUser,
  type RemoteAnswer,
  type RemoteGet,
  type RemoteTarget,
  remoteTarget,
} from "./remote.ts"
import { AggregatedTransport } from "./transport.ts"
import { type APIService, apiServices, isAvailable, isRemote } from "../../client/api-services.ts"

export const apiServicePrefix = storagePrefixOf(apiServices.group, apiServices.resource)

/** Timeout of a server's response to a check. */
const checkTimeoutMs = 5_000
/** As Go's client says it. */
const tooLate = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"

interface AggregatorParts {
  /** All of the control plane's. */
  services: ObjectView<APIService>
  store: Store
  backends: Backends
  frontProxy: FrontProxy
  client: () => KubeClient
  log: Log
}

/** A group version as in discovery. */
export interface AggregatedVersion extends Ranked {
  isCurrent: boolean
  /** The resources of the server's last APIResourceList. */
  resources: readonly ListedResource[]
}

/** A document of OpenAPI v3 that a server has. */
interface OpenAPIElsewhere {
  service: APIService
  /** With its hash. */
  address: string
}

export class Aggregator implements AsyncDisposable {
  readonly #parts: AggregatorParts
  readonly #view: ObjectView<APIService>
  readonly #availability: AvailabilityController
  readonly #backing: BackingServices
  readonly #ending = new AbortController()
  #isOpen = false

  constructor(parts: AggregatorParts) {
    this.#parts = parts
    this.#view = parts.services
    this.#view.onChange(() => this.#availability.changed())
    const { store, log } = parts
    this.#backing = new BackingServices({ store, log, onChange: () => this.#availability.recheck() })
    this.#availability = new AvailabilityController({
      services: async () => {
        const remote = (await this.#view.current()).filter(isRemote)
        this.#backing.follow(remote)
        return remote
      },
      get: (service, request) => this.#get(service, request, aggregatorUser),
      getOpenAPI: (service, request) => this.getOpenAPI(service, request),
      client: parts.client,
      log,
      signal: this.#ending.signal,
    })
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
      this.#availability.changed()
    }
    return all.filter(isRemote)
  }

  /** Those that have never been checked, as after the control plane was opened, are checked first. */
  async versions(): Promise<readonly AggregatedVersion[]> {
    return (await this.#checked()).map((service) => {
      const { resources = [], isCurrent = false } = this.#availability.known(service) ?? {}
      return { ...rankOf(service), isCurrent, resources }
    })
  }

  /** All APIServices, including those of local resources. Returns the same value until something changes. */
  services(): Promise<readonly APIService[]> {
    return this.#view.current()
  }

  async availability(): Promise<{ name: string; isAvailable: boolean }[]> {
    const all = await this.services()
    return all.map((service) => ({ name: service.metadata.name ?? "", isAvailable: isAvailable(service) }))
  }

  /** Since the control plane was opened. */
  get outages(): Outages[] {
    return this.#availability.outages
  }

  /** Of the servers' indexes of OpenAPI v3, from their last responses, by path. Of two servers the first one counts. */
  async openAPIPaths(): Promise<ReadonlyMap<string, OpenAPIElsewhere>> {
    const found = new Map<string, OpenAPIElsewhere>()
    for (const service of await this.#checked()) {
      const known = this.#availability.known(service)?.openAPI ?? "absent"
      if (known === "absent") continue
      for (const [path, address] of known) if (!found.has(path)) found.set(path, { service, address })
    }
    return found
  }

  /** Those whose servers have no OpenAPI v3. */
  async withoutOpenAPIV3(): Promise<readonly APIService[]> {
    return (await this.#checked()).filter((service) => this.#availability.known(service)?.openAPI === "absent")
  }

  /** All that are remote, each of which has been checked at least once. */
  async #checked(): Promise<readonly APIService[]> {
    const services = await this.remote()
    await this.#availability.checkNew(services)
    return services
  }

  getOpenAPI(service: APIService, request: RemoteGet): Promise<RemoteAnswer> {
    return this.#get(service, request, openAPIUser)
  }

  target(service: APIService): Promise<RemoteTarget> {
    const { client, backends, frontProxy } = this.#parts
    return remoteTarget(client(), backends, frontProxy, service)
  }

  /** A client in process of all of its group versions: for this control plane's controllers. */
  client(user: User): KubeClient {
    return clientOver(new AggregatedTransport(this, user))
  }

  /** Ends with the control plane. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  async #get(service: APIService, request: RemoteGet, user: User): Promise<RemoteAnswer> {
    const late = AbortSignal.timeout(checkTimeoutMs)
    try {
      return await getRemote(await this.target(service), request, user, AbortSignal.any([this.#ending.signal, late]))
    } catch (error) {
      throw late.aborted ? new Error(tooLate, { cause: error }) : error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(controlPlaneClosed)
    await this.#availability[Symbol.asyncDispose]()
    await this.#backing[Symbol.asyncDispose]()
  }
}
