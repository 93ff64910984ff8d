// The preconditions of an update: the object's identity and the version from which it was made. Source:
// k8s.io/apiserver/pkg/registry/generic/registry/store.go Update.

import { uintFault } from "../../../apimachinery/go/integers.ts"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import { type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts"
import {
  badRequest,
  conflict,
  forbidden,
  type GroupResource,
  invalid,
  objectModified,
  type StatusError,
  unexplained,
} from "../../../apimachinery/status.ts"
import type { ResourceDefinition, WriteOptions } from "../rest.ts"

export function checkIdentity(
  definition: ResourceDefinition,
  { metadata }: KubeObject,
  current: KubeObject,
  { isPatch = false }: Pick<WriteOptions, "isPatch">,
): void {
  const { name = "", uid = "" } = current.metadata
  metadata.name ??= name
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
  }
  if (!isPatch && metadata.uid && metadata.uid !== uid) throw uidConflict(definition, name, metadata.uid, uid)
}

/** Afterwards the object has the current resource version. */
export function checkVersion(definition: ResourceDefinition, object: KubeObject, current: KubeObject): void {
  const { metadata } = object
  const { name = "", resourceVersion } = current.metadata
  const sent = sentRevision(object)
  if (sent > 0n) {
    if (String(sent) !== resourceVersion) throw conflict(definition, name, objectModified)
  } else if (!allowsUnconditionalUpdate(definition)) {
    const path = FieldPath.root("metadata", "resourceVersion")
    throw invalid({ group: definition.group, kind: definition.resource }, name, [
      invalidValue(path, 0, "must be specified for an update"),
    ])
  }
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion
}

/** Of a custom resource. Source: customresource_handler.go of k8s.io/apiextensions-apiserver (forbidCreateAdmission). */
export function createWhileTerminating(definition: GroupResource, name: string): StatusError {
  return forbidden(definition, name, "create not allowed while custom resource definition is terminating")
}

function allowsUnconditionalUpdate({ strategy, customResource }: ResourceDefinition): boolean {
  return strategy.allowUnconditionalUpdate ?? customResource === undefined
}

export function uidConflict(definition: ResourceDefinition, name: string, asked: string, actual: string): StatusError {
  const detail = `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${actual}`
  return conflict(definition, name, detail)
}

export function revisionConflict(
  definition: ResourceDefinition,
  name: string,
  asked: string,
  actual: string,
): StatusError {
  const detail = `Precondition failed: ResourceVersion in precondition: ${asked}, ResourceVersion in object meta: ${actual}`
  return conflict(definition, name, detail)
}

export function refuseInvalid(definition: ResourceDefinition, object: KubeObject, errors: FieldError[]): void {
  if (errors.length === 0) return
  const kind = definition.customResource === undefined ? kindOf(definition) : givenKind(object)
  throw invalid(kind, object.metadata.name ?? "", errors)
}

/** The kind of a custom resource is only found wrong when it is validated. */
function givenKind({ apiVersion, kind }: KubeObject): { group: string; kind: string } {
  return { group: parseGroupVersion(apiVersion).group, kind }
}

/** The kind in error messages: upstream's events belong to the core group, whichever group was requested. */
export function kindOf({ group, kind }: ResourceDefinition): { group: string; kind: string } {
  return { group: group === "events.k8s.io" ? "" : group, kind }
}

/** Of an object that a client has sent; 0 if it has none. Upstream's error has no reason and is answered with 500. */
export function sentRevision({ metadata: { resourceVersion: text = "" } }: KubeObject): bigint {
  const fault = text === "" ? undefined : uintFault(text)
  if (fault !== undefined) throw unexplained(`strconv.ParseUint: parsing ${goQuote(text)}: ${fault}`)
  return BigInt(text)
}
