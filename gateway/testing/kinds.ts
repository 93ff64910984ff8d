// The basis for tests of kinds: a stub of a control plane, its resources by short names, and the errors of rejected writes.

import { afterAll } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { StatusError } from "../../apimachinery/status.ts"
import type { DeleteOptions, KubeClient, PatchOptions, Resource } from "../../client/rest.ts"
import type { Store } from "../../storage/types.ts"
import type { AdmissionPlugin } from "../admission/chain.ts"
import type { ServiceAddresses } from "../control-plane/service-addresses.ts"
import { type ControlPlaneStub, createControlPlaneStub } from "./control-plane-stub.ts"

export interface KindsStub extends AsyncDisposable {
  readonly stub: ControlPlaneStub
  readonly client: KubeClient
  /** `what`: "pods", "apps/deployments". The default namespace of namespaced objects is "default". */
  create(what: string, object: Loose, subresource?: string): Promise<Loose>
  patch(what: string, name: string, patch: unknown, more?: Partial<PatchOptions>): Promise<Loose>
  get(what: string, name: string): Promise<Loose>
  delete(what: string, name: string, options?: DeleteOptions): Promise<void>
}

/** An object whose fields a test may read without checking for their presence. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests name fields of any kind
export type Loose = Record<string, any>

interface KindsOptions {
  store?: Store
  plugins?: readonly AdmissionPlugin[]
  serviceAddresses?: ServiceAddresses
}

export function createKindsStub(options: KindsOptions = {}): KindsStub {
  const stub = createControlPlaneStub(options)
  if (options.serviceAddresses) Object.assign(stub, { serviceAddresses: options.serviceAddresses })
  const { client } = stub
  const definitionOf = (what: string) => {
    const [resource = "", group = ""] = what.split("/").reverse()
    const found = stub.resources
      .definitions()
      .find((definition) => definition.resource === resource && definition.group === group)
    if (found === undefined) throw new Error(`no resource ${what}`)
    return found
  }
  const place = (what: string): [Resource, string | undefined] => {
    const { group, version, resource, namespaced } = definitionOf(what)
    return [{ group, version, resource, namespaced }, namespaced ? "default" : undefined]
  }
  return {
    stub,
    client,
    async create(what, object, subresource) {
      const { group, version, kind } = definitionOf(what)
      const [resource, namespace] = place(what)
      const metadata = { ...(namespace === undefined ? {} : { namespace }), ...object["metadata"] }
      const apiVersion = group === "" ? version : `${group}/${version}`
      // As sent over the network: without undefined fields.
      const whole = JSON.parse(JSON.stringify({ kind, apiVersion, ...object, metadata })) as KubeObject
      return structuredClone(await client.create(resource, whole, subresource === undefined ? {} : { subresource }))
    },
    async patch(what, name, patch, more = {}) {
      return structuredClone(await client.patch(...place(what), name, patch, { type: "merge", ...more }))
    },
    get: async (what, name) => structuredClone(await client.get(...place(what), name)),
    delete: (what, name, deleteOptions) => client.delete(...place(what), name, deleteOptions),
    [Symbol.asyncDispose]: () => stub[Symbol.asyncDispose](),
  }
}

/** A stub that all tests of a file share, and unique names for their objects. */
export function shareKinds(options: KindsOptions = {}): { kinds: KindsStub; next: () => string } {
  const kinds = createKindsStub(options)
  afterAll(() => kinds[Symbol.asyncDispose]())
  let count = 0
  return { kinds, next: () => `n${++count}` }
}

/** The message of the Status with which a request fails, or "accepted". */
export async function verdict(request: Promise<unknown>): Promise<string> {
  try {
    await request
    return "accepted"
  } catch (error) {
    if (error instanceof StatusError) return error.status.message ?? ""
    throw error
  }
}

/** Fields and messages of the errors, without the text around them. */
export async function faults(request: Promise<unknown>): Promise<string[]> {
  try {
    await request
    return []
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const causes = error.status.details?.causes
    return causes?.map(({ field, message }) => `${field}: ${message}`) ?? [error.status.message ?? ""]
  }
}
