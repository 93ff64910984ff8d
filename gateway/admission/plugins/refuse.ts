// The errors with which plugins reject writes: 403 with the object as the caller named it.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { forbidden, type StatusCause, type StatusError } from "../../../apimachinery/status.ts"
import type { AdmissionAttributes } from "../chain.ts"

export function refuse(
  attributes: AdmissionAttributes,
  detail: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  return forbidden(attributes.resource, nameOf(attributes), detail, causes)
}

function nameOf({ name, object }: AdmissionAttributes): string {
  if (name !== "") return name
  return object?.metadata.name || object?.metadata.generateName || "Unknown"
}

/** A write of that resource itself (not of a subresource), "pods" or "storageclasses.storage.k8s.io". */
export function isOf(attributes: AdmissionAttributes, group: string, resource: string, subresource = ""): boolean {
  const { resource: asked } = attributes
  return asked.group === group && asked.resource === resource && attributes.subresource === subresource
}

export function objectAs<T extends KubeObject>(attributes: AdmissionAttributes): T {
  if (attributes.object === undefined) throw new TypeError(`${attributes.operation} has no object`)
  return attributes.object as T
}
