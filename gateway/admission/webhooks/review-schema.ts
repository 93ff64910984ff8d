// The schema of a webhook's response according to the types of AdmissionReview. The schema facts lack it, since it is not a served
// kind. Source: k8s.io/api/admission/v1/types.go.

import { schemaOfType } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import type { ReviewVersion } from "../../backends/review-fault.ts"

const text: Schema = { type: "string" }

const status = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.Status")
if (status === undefined) throw new Error("the facts have no Status")

const given: Schema = status

/** The request in the response, which the server sent itself, is ignored. */
function reviewIn(version: ReviewVersion): Schema {
  const types = `io.k8s.api.admission.${version}`
  const response: Schema = {
    type: "object",
    name: `${types}.AdmissionResponse`,
    fields: {
      uid: { schema: text, goType: "types.UID" },
      allowed: { schema: { type: "boolean" } },
      status: { schema: given },
      patch: { schema: { type: "string", format: "byte" } },
      patchType: { schema: text, goType: `${version}.PatchType` },
      auditAnnotations: { schema: { type: "map", items: text } },
      warnings: { schema: { type: "list", items: text } },
    },
  }
  return {
    type: "object",
    name: `${types}.AdmissionReview`,
    fields: { kind: { schema: text }, apiVersion: { schema: text }, response: { schema: response } },
  }
}

export const answeredReviews: Readonly<Record<ReviewVersion, Schema>> = {
  v1: reviewIn("v1"),
  v1beta1: reviewIn("v1beta1"),
}
