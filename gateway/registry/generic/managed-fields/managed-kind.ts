// The kinds of managed fields (field-management.ts): a kind with its types in all versions, the conversions between them, and the
// fields that a request cannot change.

import { copyJson } from "../../../../apimachinery/copy.ts"
import type { Versions } from "../../../../apimachinery/managed-fields/versions.ts"
import { checkType } from "../../../../apimachinery/managed-fields/configuration.ts"
import { type MergeType, mergeTypeOf } from "../../../../apimachinery/managed-fields/merge-type.ts"
import type { Reset } from "../../../../apimachinery/managed-fields/ownership.ts"
import {
  type GroupVersionKind,
  type Json,
  type KubeObject,
  parseGroupVersion,
  printGroupVersion,
} from "../../../../apimachinery/object.ts"
import { schemaOf } from "../../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"
import { unexplained } from "../../../../apimachinery/status.ts"
import type { RequestContext } from "../../../request/context.ts"
import { deepFreeze } from "../../../../apimachinery/freeze.ts"
import { resetFields } from "./reset-fields.ts"
import type { ResourceDefinition } from "../../rest.ts"

/** A kind in the version of the request, written through one resource or subresource. */
export interface ManagedKind {
  group: string
  version: string
  kind: string
  schema: Schema
  subresource: string
  /** Whether the kind exists in a version, served or not. */
  isKnown: (apiVersion: string) => boolean
  versions: Versions
  reset: Reset
  /** The object as it would be read after the write, if that differs: fields that its version lacks may be stored elsewhere. */
  asRead?: (object: Json) => Promise<Json>
  /** Why the result of an apply cannot be decoded as its kind; only an apply without changes then succeeds. */
  unreadable?: string
}

export function managedKind(ctx: RequestContext, definition: ResourceDefinition, subresource: string): ManagedKind {
  const { group, version, kind } = definition
  const own = printGroupVersion(definition)
  const known = (apiVersion: string): ResourceDefinition | undefined => {
    if (apiVersion === own) return definition
    const asked = parseGroupVersion(apiVersion)
    // As upstream, events of the other group are a different kind.
    if (asked.group !== group) return undefined
    const served = ctx.controlPlane.resources.registry({ ...asked, resource: definition.resource })
    return served?.definition ?? definition.customResource?.unserved?.(asked.version)
  }
  const definitionIn = (apiVersion: string): ResourceDefinition | undefined => {
    const found = known(apiVersion)
    if (found === undefined && definition.customResource !== undefined)
      throw unexplained(`request to convert CR to an invalid group/version: ${apiVersion}`)
    return found
  }
  return {
    group,
    version,
    kind,
    schema: definition.schema,
    subresource,
    isKnown: (apiVersion) => known(apiVersion) !== undefined,
    versions: {
      typeIn: (apiVersion) => typeOf(definitionIn(apiVersion)),
      convert: (object, from, to) => convert(object, definitionIn(from), definitionIn(to)),
    },
    reset(apiVersion) {
      // As upstream, writes of a custom resource reset fields of their own version only, but those of its status of every version.
      const isReset = definition.customResource === undefined || apiVersion === own || subresource === "status"
      const found = isReset ? known(apiVersion) : undefined
      return found && resetFields(found, subresource)
    },
    ...(isConverted(definition) ? { asRead: (object) => throughStorage(object, definition, definition) } : {}),
  }
}

/** Converted by the gateway itself; for custom resources, upstream also compares the object as sent. */
function isConverted({ conversion, customResource }: ResourceDefinition): boolean {
  return conversion !== undefined && customResource === undefined
}

function typeOf(definition: ResourceDefinition | undefined): MergeType | undefined {
  return definition && mergeTypeOf(definition.schema)
}

async function convert(
  object: Json,
  from: ResourceDefinition | undefined,
  to: ResourceDefinition | undefined,
): Promise<Json> {
  if (from === undefined || to === undefined) throw new Error("no such version")
  if (from === to) return object
  const converted = await throughStorage(object, from, to)
  // Fields that the other version does not contain stay in place, unless a webhook drops them. Source: managedfields/internal/versionconverter.go.
  if (to.customResource !== undefined) checkType(converted, mergeTypeOf(to.schema), "conversion")
  return converted
}

async function throughStorage(object: Json, from: ResourceDefinition, to: ResourceDefinition): Promise<Json> {
  const given = deepFreeze(copyJson(object) as unknown as KubeObject)
  const exact = await from.customResource?.between?.(given, printGroupVersion(to))
  if (exact !== undefined) return copyJson(exact as unknown as Json)
  const stored = from.conversion === undefined ? given : await from.conversion.toStored(given)
  const [converted] = to.conversion === undefined ? [stored] : await to.conversion.fromStored([deepFreeze(stored)])
  if (converted === undefined) throw new Error(`conversion to ${printGroupVersion(to)} answered nothing`)
  return copyJson({ ...converted, apiVersion: printGroupVersion(to) } as unknown as Json)
}

/** A subresource with its own kind: Scale, TokenRequest. */
export function managedSubresource(gvk: GroupVersionKind, subresource: string): ManagedKind {
  const schema = schemaOf(gvk)
  if (schema === undefined) throw new Error(`the facts have no ${gvk.kind}`)
  return {
    ...gvk,
    schema,
    subresource,
    isKnown: (apiVersion) => apiVersion === printGroupVersion(gvk),
    versions: {
      typeIn: (apiVersion) => (apiVersion === printGroupVersion(gvk) ? mergeTypeOf(schema) : undefined),
      convert: (object) => object,
    },
    reset: () => undefined,
  }
}

const scaleKind = { group: "autoscaling", version: "v1", kind: "Scale" }

/** The object of the scale subresource. */
export function managedScale(): ManagedKind {
  return managedSubresource(scaleKind, "scale")
}

/**
 * The scale of a custom resource. Upstream's managers merge into an untyped object, which only the definition's converter could
 * decode, and that does not support Scale. Source: k8s.io/apiextensions-apiserver/pkg/apiserver/conversion/converter.go.
 */
export function managedCustomScale(): ManagedKind {
  return {
    ...managedScale(),
    unreadable: `request to convert CR to an invalid group/version: ${printGroupVersion(scaleKind)}`,
  }
}
