// The schemas of a webhook's response according to the types of ConversionReview. The schema facts lack them, since it is not a
// served kind. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/{v1,v1beta1}/types.go.

import { schemaOfType } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import type { ReviewVersion } from "../../backends/review-fault.ts"

const text: Schema = { type: "string" }

const status = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.Status")
if (status === undefined) throw new Error("the facts have no Status")
const result: Schema = status

/** The request in the response, which the server sent itself, is ignored. */
function reviewIn(version: ReviewVersion): Schema {
  const types = `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}`
  const objects: Schema = { type: "any", name: "io.k8s.apimachinery.pkg.runtime.RawExtension" }
  const response: Schema = {
    type: "object",
    name: `${types}.ConversionResponse`,
    fields: {
      uid: { schema: text, goType: "types.UID" },
      convertedObjects: { schema: { type: "list", items: objects } },
      result: { schema: result },
    },
  }
  return {
    type: "object",
    name: `${types}.ConversionReview`,
    fields: { kind: { schema: text }, apiVersion: { schema: text }, response: { schema: response } },
  }
}

export const answeredReviews: Readonly<Record<ReviewVersion, Schema>> = {
  v1: reviewIn("v1"),
  v1beta1: reviewIn("v1beta1"),
}
