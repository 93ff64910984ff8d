// Why a webhook's response is not a review: kube-apiserver decodes it like an object of its own kinds.

import { type Json, parseGroupVersion, printGroupVersion } from "../../apimachinery/object.ts"
import { decodeObject } from "../../apimachinery/schema/decode/decode.ts"
import { refusalDetail } from "../../apimachinery/schema/decode/errors.ts"
import { schemaOfType } from "../../apimachinery/schema/facts.ts"
import { noObject } from "../../apimachinery/schema/json/parse.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { hasReason } from "../../apimachinery/status.ts"
import type { ReviewTypes, ReviewVersion } from "./review-types.ts"

/**
 * Every scheme of upstream has these, whatever version an answer names. Source: k8s.io/apimachinery/pkg/apis/meta/v1/register.go
 * (AddToGroupVersion) and Scheme.New in pkg/runtime/scheme.go.
 */
const commonKinds: ReadonlyMap<string, Schema> = new Map(
  ["APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"].map((kind) => {
    const schema = schemaOfType(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`)
    if (schema === undefined) throw new Error(`the facts have no ${kind}`)
    return [kind, schema]
  }),
)

/**
 * Undefined if there is no fault; then unknown fields and nulls have been dropped, so that later code finds the expected types.
 * `version`: that of the review that was sent. What the answer does not name is taken from it. Source: gvkWithDefaults in
 * k8s.io/apimachinery/pkg/runtime/serializer/json/json.go.
 */
export function reviewFault(
  answer: Json,
  version: ReviewVersion,
  { group, kind, versions }: ReviewTypes,
): string | undefined {
  if (answer === null) return undefined
  if (typeof answer !== "object" || Array.isArray(answer)) return noObject(answer)
  const named = answer as { kind?: string | null; apiVersion?: string | null }
  const given = named.kind || kind
  const unconverted = (from: string): string =>
    `converting (${from}.${given}) to (${version}.${kind}): unknown conversion`
  const common = commonKinds.get(given)
  if (common !== undefined) return faultOfTypes(answer, common) ?? unconverted("v1")
  const parsed = parseGroupVersion(named.apiVersion ?? "")
  const isUnnamed = parsed.version === "" && (parsed.group === "" || parsed.group === group)
  const of = isUnnamed ? { group, version } : parsed
  if (given !== kind || of.group !== group || !isVersion(of.version)) {
    const shown = JSON.stringify(printGroupVersion(of))
    return `no kind ${JSON.stringify(given)} is registered for version ${shown} in scheme "pkg/runtime/scheme.go:111"`
  }
  return faultOfTypes(answer, versions[of.version]) ?? (of.version === version ? undefined : unconverted(of.version))
}

function isVersion(version: string): version is ReviewVersion {
  return version === "v1" || version === "v1beta1"
}

function faultOfTypes(answer: Json, schema: Schema): string | undefined {
  try {
    decodeObject(schema, answer, false)
    return undefined
  } catch (error) {
    if (!hasReason(error, "BadRequest")) throw error
    return refusalDetail(error.message)
  }
}
