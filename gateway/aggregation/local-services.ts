// The APIServices of custom resources: one for each served group version, created and deleted with it. They have no function here,
// but `kubectl get apiservices` shows them. Source: k8s.io/kube-aggregator/pkg/controllers/autoregister.

import { isAlreadyExists, isConflict, isNotFound } from "../../apimachinery/status.ts"
import type { Log } from "../../client/log.ts"
import type { KubeClient } from "../../client/rest.ts"
import { Reconciliation } from "../control-plane/reconciliation.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import { type APIService, apiServices } from "../../client/api-services.ts"

const managedLabel = "kube-aggregator.kubernetes.io/automanaged"
/** Custom resources come after everything else, in any order. */
const priorities = { groupPriorityMinimum: 1000, versionPriority: 100 }

export interface LocalServicesParts {
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
  }

  /** Call when the served resources have changed. */
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
    const { items } = await client.list<APIService>(apiServices, { labelSelector: `${managedLabel}=true` })
    const there = new Set(items.map(({ metadata }) => metadata.name ?? ""))
    for (const [name, service] of wanted) {
      if (signal.aborted) return
      // An APIService of that name without the label belongs to its creator.
      if (!there.has(name)) await client.create(apiServices, service).catch(unless(isAlreadyExists))
    }
    for (const { metadata } of items) {
      const { name = "", uid } = metadata
      if (signal.aborted) return
      if (wanted.has(name)) continue
      await client
        .delete(apiServices, undefined, name, uid === undefined ? {} : { uid })
        .catch(unless(isNotFound, isConflict))
    }
  }
}

/** Without those that are computed: a tenant may register a server in their place. */
const isCustom = (definition: ResourceDefinition): boolean =>
  definition.customResource !== undefined && definition.find === undefined

function serviceOf(group: string, version: string): APIService {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, labels: { [managedLabel]: "true" } },
    spec: { group, version, ...priorities },
  }
}

function unless(...expected: ((error: unknown) => boolean)[]): (error: unknown) => void {
  return (error) => {
    if (!expected.some((is) => is(error))) throw error
  }
}
