// What a tenant is told of what cannot be done, or not as it asks for: Events on its objects.

import type { KubeObject } from "../apimachinery/object.ts"
import type { StatusError } from "../apimachinery/status.ts"
import { scrubText, tenantMessage, type ScrubNames } from "../apimachinery/tenant-texts.ts"
import type { EventRecorder } from "../client/events.ts"
import type { Tenant, Tenants } from "../client/tenants.ts"
import type { Place } from "./conversion/super-object.ts"
import { RefusedError, isRefusal } from "./failures.ts"
import type { ResourceSync } from "./resources/resource-sync.ts"

/** What it is about. */
export interface Subject {
  sync: ResourceSync
  context: { tenant: Tenant }
  /** Of the copy. */
  place: Place
  /** The tenant's. Without one nobody is told. */
  object: KubeObject | undefined
}

export class Reports {
  readonly #tenants: Tenants
  readonly #events: EventRecorder

  constructor({ tenants, events }: { tenants: Tenants; events: EventRecorder }) {
    this.#tenants = tenants
    this.#events = events
  }

  /** A write to super has failed: what super refuses is told. */
  failed(subject: Subject, reason: string, error: unknown): never {
    if (!isRefusal(error)) throw error
    return this.refuse(subject, reason, tenantMessage(error, namesOf(subject)), { cause: error })
  }

  /** The copy has been written without what super cannot give. */
  fellBack(subject: Subject, error: StatusError): void {
    this.tell(subject, "FailedSync", `${scrubText(error.message, namesOf(subject))}; another one is used`)
  }

  /** `cause`: what a server said. */
  refuse(subject: Subject, reason: string, message: string, by: { byTenant?: boolean; cause?: unknown } = {}): never {
    const text = scrubText(message, namesOf(subject))
    this.tell(subject, reason, text)
    throw new RefusedError(text, { mayChangeUnseen: by.cause !== undefined, ...by })
  }

  /** `message` names nothing of super's. */
  tell({ object, context: { tenant }, sync }: Subject, reason: string, message: string): void {
    if (object === undefined) return
    const { group, version } = sync.resource
    // Items of lists have no kind.
    const apiVersion = group === "" ? version : `${group}/${version}`
    // Nobody in the tenant waits for it: it may sleep.
    const client = this.#tenants.client(tenant, { isUse: false })
    this.#events.event(client, { ...object, apiVersion, kind: sync.kind }, "Warning", reason, message, tenant.name)
  }
}

function namesOf({ object, context: { tenant }, place }: Subject): ScrubNames {
  const namespace = object?.metadata.namespace ?? object?.metadata.name ?? ""
  return { tenant, namespace, superNamespace: place.namespace ?? place.name }
}
