// A registry of a control plane stub, with its verbs as the gateway's own parts call them: without admission.

import { onTestFinished } from "vitest"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import { contextOf, createControlPlaneStub } from "../../../testing/control-plane-stub.ts"
import type { DeleteRequest, Registry } from "../../rest.ts"
import { internalWrite, withoutAdmission } from "../internal-write.ts"

export const namespace = "default"

/** Closed after the test. */
export function openRegistry(resource = "configmaps", group = "", version = "v1") {
  const stub = createControlPlaneStub()
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const registry = stub.resources.registry({ group, version, resource }) as Registry
  const ctx = contextOf(stub, { group, version, resource, namespace })
  const { kind } = registry.definition
  const apiVersion = group === "" ? version : `${group}/${version}`
  const make = (name: string, rest: object = {}, meta: object = {}): KubeObject => ({
    kind,
    apiVersion,
    metadata: { name, ...meta },
    ...rest,
  })
  return {
    stub,
    registry,
    ctx,
    make,
    create: (object: KubeObject, dryRun = false) =>
      registry.create(ctx, object, internalWrite("", dryRun), withoutAdmission),
    update: (name: string, change: (current: KubeObject) => KubeObject, subresource = "") =>
      registry.update(
        ctx,
        namespace,
        name,
        (o) => change(o as KubeObject),
        internalWrite(subresource),
        withoutAdmission,
      ),
    remove: (name: string, request: Partial<DeleteRequest> = {}) =>
      registry.delete(ctx, namespace, name, { dryRun: false, ...request }, withoutAdmission),
    get: async (name: string) => (await registry.get(ctx, namespace, name)).object(),
  }
}
