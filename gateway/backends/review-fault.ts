// Why a webhook's response is not a review: kube-apiserver decodes it like an object of its own kinds.

import type { Json } from "../../apimachinery/object.ts"
import { decodeObject } from "../../apimachinery/schema/decode/decode.ts"
import { refusalDetail } from "../../apimachinery/schema/decode/errors.ts"
import { noObject } from "../../apimachinery/schema/json/parse.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { hasReason } from "../../apimachinery/status.ts"

/** Upstream can decode both. */
export type ReviewVersion = "v1" | "v1beta1"

/**
 * Every scheme of upstream has these, whatever version an answer names. Source: k8s.io/apimachinery/pkg/apis/meta/v1/register.go
 * (AddToGroupVersion) and Scheme.New in pkg/runtime/scheme.go.
 */
const commonKinds: ReadonlySet<string> = new Set([
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "APIVersions",
  "Status",
])

/**
 * Undefined if there is no fault; then unknown fields and nulls have been dropped, so that later code finds the expected types.
 * `kind` and `version`: those of the review that was sent.
 */
export function reviewFault(
  answer: Json,
  { group, kind, version }: { group: string; kind: string; version: ReviewVersion },
  schemas: Readonly<Record<ReviewVersion, Schema>>,
): string | undefined {
  if (answer === null) return undefined
  if (typeof answer !== "object" || Array.isArray(answer)) return noObject(answer)
  const named = answer as { kind?: string | null; apiVersion?: string | null }
  const [given, apiVersion] = [named.kind ?? "", named.apiVersion ?? ""]
  const [ofGroup, ofVersion = ""] = apiVersion.split("/")
  const isReview = given === kind && ofGroup === group && Object.hasOwn(schemas, ofVersion)
  if (commonKinds.has(given)) return `converting (v1.${given}) to (${version}.${kind}): unknown conversion`
  if (isReview && ofVersion !== version) {
    const unconverted = `converting (${ofVersion}.${given}) to (${version}.${kind}): unknown conversion`
    return faultOfTypes(answer, schemas[ofVersion as ReviewVersion]) ?? unconverted
  }
  if (!isReview && given !== "" && (apiVersion !== "" || given !== kind)) {
    const shown = JSON.stringify(apiVersion || `${group}/${version}`)
    return `no kind ${JSON.stringify(given)} is registered for version ${shown} in scheme "pkg/runtime/scheme.go:111"`
  }
  return faultOfTypes(answer, schemas[version])
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
