// The schema of a webhook's response according to the types of ConversionReview. The schema facts lack it, since it is not a served
// kind. Source: k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/types.go.

import { schemaOfType } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"

const text: Schema = { type: "string" }
const types = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"

const status = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.Status")
if (status === undefined) throw new Error("the facts have no Status")

const response: Schema = {
  type: "object",
  name: `${types}.ConversionResponse`,
  fields: {
    uid: { schema: text, goType: "types.UID" },
    convertedObjects: {
      schema: { type: "list", items: { type: "any", name: "io.k8s.apimachinery.pkg.runtime.RawExtension" } },
    },
    result: { schema: status },
  },
}

/** The request in the response, which the server sent itself, is ignored. */
export const answeredReview: Schema = {
  type: "object",
  name: `${types}.ConversionReview`,
  fields: { kind: { schema: text }, apiVersion: { schema: text }, response: { schema: response } },
}
