// Admission: modifies or rejects writes between decoding and storing. Plugins are listed in their order; all mutating phases run
// first, then (inside the registry's flow) all validating ones. Source: k8s.io/apiserver/pkg/admission.

import type { GroupVersionKind, GroupVersionResource, Json, KubeObject } from "../../apimachinery/object.ts"
import type { ResourceDefinition } from "../registry/rest.ts"
import type { RequestContext } from "../request/context.ts"
import { settlePatched } from "./patched.ts"

export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT"

export interface DecodeOptions {
  /** Default: "Ignore". */
  unknownFields?: "Ignore" | "Strict"
  /** What has made the object. Default: "body". */
  origin?: "body" | "apply"
  /** Another version of the kind. Default: that of the request. */
  version?: ResourceDefinition | undefined
  /** The object has what it is decoded from alone. */
  lacksDefaults?: boolean
  /** It stays in its version, as one webhook or policy hands it to the next: nothing is converted (Strategy). */
  isVersioned?: boolean
}

export interface AdmissionAttributes {
  operation: AdmissionOperation
  resource: GroupVersionResource
  subresource: string
  /** The kind of the object: that of a subresource may be in another group (Scale, Eviction, PodExecOptions). */
  kind: GroupVersionKind
  namespace: string
  name: string
  /** The name was generated after mutating admission, so the request itself has none. */
  hasGeneratedName: boolean
  /** Undefined on DELETE. Plugins modify it in place (`replaceObject()`). On CONNECT, the options of the connection. */
  object: KubeObject | undefined
  /** The stored object on UPDATE and DELETE. Frozen. */
  current: KubeObject | undefined
  dryRun: boolean
  definition: ResourceDefinition
  /** CreateOptions, UpdateOptions or DeleteOptions; undefined on CONNECT. */
  options: Json | undefined
  /**
   * Decodes a modified form of an object of a built-in kind like a request body, or like what an apply makes: validates, prunes or rejects
   * unknown fields, adds defaults.
   */
  decode(value: Json, options?: DecodeOptions): KubeObject
  reinvocation: Reinvocation
}

/**
 * After a plugin that calls out has modified the object, all mutating plugins run a second time (an injected sidecar also needs
 * defaults). Source: k8s.io/apiserver/pkg/admission/plugin/webhook/… and admission/reinvocation.go.
 */
export class Reinvocation {
  #isSecond = false
  #isWanted = false
  readonly #states = new Map<string, unknown>()

  want(): void {
    this.#isWanted = true
  }

  get isSecond(): boolean {
    return this.#isSecond
  }

  /** Called after a run: begins the second run if one was requested. */
  begin(): boolean {
    if (this.#isSecond || !this.#isWanted) return false
    this.#isSecond = true
    return true
  }

  /** The state that a plugin keeps from the first run to the second. */
  state<T>(plugin: string, make: () => T): T {
    if (!this.#states.has(plugin)) this.#states.set(plugin, make())
    return this.#states.get(plugin) as T
  }
}

export interface AdmissionPlugin {
  /**
   * Whether it may call out, or evaluate expressions of the tenant: then the order of requests is visible. Otherwise such a plugin is not
   * called, unless its concerns() say so.
   */
  readonly isVisible?: boolean
  /**
   * Called before the two hooks below, which are irrelevant for nearly every write: a hook that is not called need not be awaited.
   */
  concerns?(attributes: AdmissionAttributes): boolean
  /** Also called on DELETE and CONNECT, where there is nothing to modify but calls may be made. */
  mutate?(ctx: RequestContext, attributes: AdmissionAttributes): void | Promise<void>
  validate?(ctx: RequestContext, attributes: AdmissionAttributes): void | Promise<void>
}

export class AdmissionChain {
  readonly #mutating: readonly AdmissionPlugin[]
  readonly #validating: readonly AdmissionPlugin[]
  readonly #visible: readonly AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.filter((plugin) => "mutate" in plugin)
    this.#validating = plugins.filter((plugin) => "validate" in plugin)
    this.#visible = plugins.filter((plugin) => "isVisible" in plugin)
  }

  /** Whether the order in which it is called is visible to the tenant. */
  get isVisible(): boolean {
    return this.#visible.some((plugin) => plugin.isVisible === true)
  }

  async mutate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const began = performance.now()
    let rejected = true
    try {
      do {
        for (const plugin of this.#mutating) {
          const waiting = isConcerned(plugin, attributes) ? plugin.mutate?.(ctx, attributes) : undefined
          if (waiting !== undefined) await waiting
        }
      } while (attributes.reinvocation.begin())
      rejected = false
    } finally {
      ctx.observer?.admitted("admit", attributes.operation, rejected, (performance.now() - began) / 1000)
    }
    settlePatched(attributes)
  }

  async validate(ctx: RequestContext, attributes: AdmissionAttributes): Promise<void> {
    const began = performance.now()
    let rejected = true
    try {
      for (const plugin of this.#validating) {
        const waiting = isConcerned(plugin, attributes) ? plugin.validate?.(ctx, attributes) : undefined
        if (waiting !== undefined) await waiting
      }
      rejected = false
    } finally {
      ctx.observer?.admitted("validate", attributes.operation, rejected, (performance.now() - began) / 1000)
    }
  }
}

function isConcerned(plugin: AdmissionPlugin, attributes: AdmissionAttributes): boolean {
  return plugin.concerns?.(attributes) ?? plugin.isVisible ?? true
}
