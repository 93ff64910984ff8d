// The APIServices of custom resources: one for each served group version, created and deleted with it, and restored if a client
// changes it. They have no function here but in discovery. All that have no server are available, whatever a client writes. Sources:
// k8s.io/kube-aggregator/pkg/controllers/autoregister, k8s.io/kube-aggregator/pkg/controllers/status/local.

import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import { timestamp } from "../../apimachinery/object.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { Reconciliation } from "../control-plane/reconciliation.ts"
import type { ObjectView } from "../registry/generic/storage/object-view.ts"
import { semanticEqual } from "../registry/validation/equality.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { customPriorities } from "./priorities.ts"
import {
  type APIService,
  apiServices,
  isRemote,
  localCondition,
  managedLabel,
  withAvailability,
} from "../../client/api-services.ts"

interface LocalServicesParts {
  services: ObjectView<APIService>
  client: () => KubeClient
  definitions: () => readonly ResourceDefinition[]
  log: Log
}

export class LocalServices implements AsyncDisposable {
  readonly #parts: LocalServicesParts
  readonly #reconciliation: Reconciliation
  /** Nothing to do until there have been custom resources. */
  #everServed = false

  constructor(parts: LocalServicesParts) {
    this.#parts = parts
    this.#reconciliation = new Reconciliation({
      reconcile: (signal) => this.#reconcile(signal),
      failure: "APIServices of custom resources are not up to date",
      log: parts.log,
    })
    parts.services.onChange(() => this.#reconciliation.due())
  }

  /** Call when the served resources have changed. The first time opens the view of the APIServices. */
  changed(): void {
    this.#everServed ||= this.#parts.definitions().some(isCustom)
    if (this.#everServed) this.#reconciliation.due()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#reconciliation[Symbol.asyncDispose]()
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const client = this.#parts.client()
    const wanted = new Map<string, APIService>()
    for (const { group, version } of this.#parts.definitions().filter(isCustom)) {
      wanted.set(`${version}.${group}`, serviceOf(group, version))
    }
    const there = new Map(
      (await this.#parts.services.current()).map((service) => [service.metadata.name ?? "", service]),
    )
    for (const [name, service] of wanted) {
      if (signal.aborted) return
      const current = there.get(name)
      if (current === undefined) await client.create(apiServices, service).catch(unless(isAlreadyExists))
      // Without the label it belongs to its users.
      else if (isOwn(current) && !semanticEqual(current.spec, service.spec)) {
        const restored = { ...structuredClone(current), spec: service.spec } as APIService
        await client.update(apiServices, restored).catch(unless(isNotFound, isConflict))
      }
    }
    for (const service of there.values()) {
      const { name = "", uid } = service.metadata
      if (signal.aborted) return
      if (!wanted.has(name) && isOwn(service)) {
        await client
          .delete(apiServices, undefined, name, uid === undefined ? {} : { uid })
          .catch(unless(isNotFound, isConflict))
        continue
      }
      const available = isRemote(service) ? undefined : withAvailability(service, localCondition, timestamp())
      if (available === undefined) continue
      await client.update(apiServices, available, { subresource: "status" }).catch(unless(isNotFound, isConflict))
    }
  }
}

/** Without those that are computed: a tenant may register a server in their place. */
const isCustom = (definition: ResourceDefinition): boolean =>
  definition.customResource !== undefined && definition.find === undefined

/** Those of built-in resources have another value. */
const isOwn = ({ metadata }: APIService): boolean => metadata.labels?.[managedLabel] === "true"

function serviceOf(group: string, version: string): APIService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, labels: { [managedLabel]: "true" } },
    spec: { group, version, ...customPriorities },
  }
}

function unless(...expected: ((error: unknown) => boolean)[]): (error: unknown) => void {
  return (error) => {
    if (!expected.some((is) => is(error))) throw error
  }
}
