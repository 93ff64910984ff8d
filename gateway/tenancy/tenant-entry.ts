// One tenant the gateway has: its record, and its control plane while it is open. The owner of both: what runs for the
// tenant ends with `ended`, and closing waits for it.

import { pause, systemClock } from "../../client/clock.ts"
import type { Log } from "../../client/log.ts"
import { notFound } from "../../apimachinery/status.ts"
import type { ControlPlane } from "./control-plane.ts"
import { prepareUntilDone, type Prepare } from "./prepare.ts"
import type { TenantRecord } from "./tenant-record.ts"

export interface TenantEntryParts {
  record: TenantRecord
  open: (record: TenantRecord) => Promise<ControlPlane>
  /** Run after each opening until it succeeds: makes what needs the super cluster's answer. */
  prepare: Prepare
  log: Log
}

export class TenantEntry {
  readonly record: TenantRecord
  readonly #parts: TenantEntryParts
  readonly #ended = new AbortController()
  #controlPlane: Promise<ControlPlane> | undefined
  #preparing: Promise<void> | undefined

  constructor(parts: TenantEntryParts) {
    this.record = parts.record
    this.#parts = parts
  }

  /** Ends when the tenant is deleted or the gateway stops. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Opens it when it is not. */
  controlPlane(): Promise<ControlPlane> {
    if (this.ended.aborted) return Promise.reject(notFound({ group: "", resource: "tenants" }, this.record.tenant.name))
    this.#controlPlane ??= this.#open().catch((error: unknown) => {
      this.#controlPlane = undefined
      throw error
    })
    return this.#controlPlane
  }

  /** Resolves when it is prepared, or after `ms`: then it goes on in the background. */
  async prepared(ms: number): Promise<void> {
    await this.controlPlane()
    const enough = new AbortController()
    const preparing = this.#preparing?.finally(() => enough.abort())
    await Promise.race([preparing, pause(systemClock, ms, enough.signal)])
  }

  async #open(): Promise<ControlPlane> {
    const controlPlane = await this.#parts.open(this.record)
    const { prepare, log } = this.#parts
    this.#preparing = prepareUntilDone(controlPlane, prepare, this.ended, log)
    return controlPlane
  }

  async close(): Promise<void> {
    this.#ended.abort()
    const opening = this.#controlPlane
    this.#controlPlane = undefined
    if (opening === undefined) return
    const controlPlane = await opening.catch(() => undefined) // told to whoever asked for it
    await this.#preparing
    await controlPlane?.[Symbol.asyncDispose]()
  }
}
