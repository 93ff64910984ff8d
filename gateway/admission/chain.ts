// Admission: what may change or refuse a write between its decoding and the store. Plugins are a list in running order; all
// mutating halves run, then (inside the registry's flow) all validating ones. Source: k8s.io/apiserver/pkg/admission.

import type { GroupVersionKind, GroupVersionResource, KubeObject } from "../../apimachinery/object.ts"
import type { RequestContext } from "../request/context.ts"

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT"

export interface AdmissionAttributes {
  operation: AdmissionOperation
  resource: GroupVersionResource
  subresource: string
  kind: GroupVersionKind
  namespace: string
  name: string
  /** Undefined on DELETE. Plugins change it in place. */
  object: KubeObject | undefined
  /** The stored object on UPDATE and DELETE. Frozen. */
  current: KubeObject | undefined
  dryRun: boolean
}

export interface AdmissionPlugin {
  readonly name: string
  mutate?(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
  validate?(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void>
}

export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins
  }

  async mutate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) await plugin.mutate?.(ctx, attributes)
  }

  async validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(ctx, attributes)
  }
}
