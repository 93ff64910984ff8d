// The Deployment of one sync: as it is stored, and with the results of the sync, which are written together at its end.

import { equalIgnoringNulls } from "../../apimachinery/equality.ts"
import type { Deployment } from "../../apimachinery/object.ts"
import { deployments } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { revisionAnnotation } from "./annotations.ts"
import { condition, progressDeadlineSeconds, withStatusCondition, type DeploymentStatus } from "./status.ts"

export class DeploymentDraft {
  readonly #client: KubeClient
  readonly #now: () => number
  /** As last read or written. */
  #stored: Deployment
  #wanted: Deployment

  constructor(client: KubeClient, now: () => number, deployment: Deployment) {
    this.#client = client
    this.#now = now
    this.#stored = deployment
    this.#wanted = deployment
  }

  /** With what was noted. */
  get deployment(): Deployment {
    return this.#wanted
  }

  get status(): DeploymentStatus {
    return this.#wanted.status ?? {}
  }

  note(revision: string, status: DeploymentStatus): void {
    const { metadata } = this.#wanted
    const annotations = { ...metadata.annotations, [revisionAnnotation]: revision }
    this.#wanted = { ...this.#wanted, metadata: { ...metadata, annotations }, status }
  }

  /** The status with this condition, or unchanged if the Deployment has no deadline for its progress. */
  progressing(status: "True" | "False", reason: string, text: string): DeploymentStatus {
    if (progressDeadlineSeconds(this.#wanted) === undefined) return this.status
    return withStatusCondition(this.status, condition("Progressing", status, reason, text, this.#now()))
  }

  /** Writes the status and what was noted. Returns true if that differed from what is stored. */
  async write(status: DeploymentStatus): Promise<boolean> {
    const { metadata } = this.#stored
    const { annotations } = this.#wanted.metadata
    if (equalIgnoringNulls(status, this.#stored.status) && equalIgnoringNulls(annotations, metadata.annotations))
      return false
    const wanted = { ...this.#wanted, status }
    this.#stored = await this.#client.update<Deployment>(deployments, wanted, { subresource: "status" })
    this.#wanted = this.#stored
    return true
  }
}
