// What policies and webhooks make of the object of a request. A custom resource is of any types until all plugins have run.

import { copyJson } from "../../apimachinery/copy.ts"
import type { KubeObject } from "../../apimachinery/object.ts"
import { keepGiven } from "../../apimachinery/schema/decode/given.ts"
import { metadataFault } from "../../apimachinery/schema/decode/custom.ts"
import { assignOwn, isObject, type JsonObject } from "../../apimachinery/schema/json-object.ts"
import { isPatched, notePatched, readMetadata } from "../custom-resources/undecoded.ts"
import type { AdmissionAttributes } from "./chain.ts"
import { checkObjectSize } from "./object-size.ts"
import { isCustom } from "./webhooks/versions.ts"

/** The registry keeps its reference to the object, so the object is modified to equal `next` instead of being replaced. */
export function replaceObject(attributes: AdmissionAttributes, next: KubeObject): void {
  const { object } = attributes
  if (object === undefined) throw new TypeError("there is no object to change")
  checkObjectSize(next)
  if (isCustom(attributes)) notePatched(object)
  for (const key of Object.keys(object)) delete object[key]
  assignOwn(object, next)
  keepGiven(object, next)
}

/**
 * Called when all plugins have run for the last time. Until then, what they have made of a custom resource is of any types; from here on,
 * its metadata is what can be read of it.
 */
export function settlePatched(attributes: AdmissionAttributes): void {
  const { object, current } = attributes
  if (object === undefined || !isPatched(object)) return
  const json = copyJson(object) as unknown as JsonObject
  const fault = attributes.subresource === "status" ? undefined : metadataFault(withoutOverwritten(json, attributes))
  replaceObject(attributes, readMetadata(json, current === undefined))
  notePatched(object, fault)
}

function withoutOverwritten({ metadata }: JsonObject, attributes: AdmissionAttributes): JsonObject {
  if (!isObject(metadata)) return metadata === undefined ? {} : { metadata }
  const dropped = overwritten(attributes)
  return { metadata: Object.fromEntries(Object.entries(metadata).filter(([field]) => !dropped.includes(field))) }
}

/** What the server sets itself, whatever was there: in a dry run less. Source: BeforeUpdate in k8s.io/apiserver/pkg/registry/rest. */
function overwritten({ current, definition, dryRun }: AdmissionAttributes): readonly string[] {
  const { deletionTimestamp, deletionGracePeriodSeconds } = current?.metadata ?? {}
  return [
    "uid",
    "creationTimestamp",
    "generation",
    ...(definition.namespaced ? ["namespace"] : []),
    ...(deletionTimestamp === undefined ? [] : ["deletionTimestamp"]),
    ...(deletionGracePeriodSeconds === undefined ? [] : ["deletionGracePeriodSeconds"]),
    ...(dryRun ? [] : ["resourceVersion", "selfLink"]),
  ]
}
