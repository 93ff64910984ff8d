// The namespaces of the super cluster that are labelled as a tenant's. A list by label reads those of all tenants, so tenants that are deleted
// at the same time share one.

import type { KubeObject } from "../apimachinery/object.ts"
import { clusterLabel } from "../apimachinery/tenancy.ts"
import { listAll } from "../client/pages.ts"
import { namespaces } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"

/** By cluster key. */
type Listed = ReadonlyMap<string, readonly KubeObject[]>

export class LabelledNamespaces {
  readonly #client: KubeClient
  #running = Promise.resolve()
  #next: Promise<Listed> | undefined

  constructor(client: KubeClient) {
    this.#client = client
  }

  /** As they are after the call. */
  async of(clusterKey: string): Promise<readonly KubeObject[]> {
    // The list in progress may have passed what has just been created.
    this.#next ??= this.#running.then(() => this.#list())
    return (await this.#next).get(clusterKey) ?? []
  }

  #list(): Promise<Listed> {
    this.#next = undefined
    const listing = listAll(this.#client, namespaces, { labelSelector: clusterLabel, metadataOnly: true })
    const ended = (): void => undefined // a failure is reported to those who wait for the list
    this.#running = listing.then(ended, ended)
    return listing.then((all) => Map.groupBy(all, ({ metadata }) => metadata.labels?.[clusterLabel] ?? ""))
  }
}
