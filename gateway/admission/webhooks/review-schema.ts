// The schema of a webhook's response according to the types of AdmissionReview. The schema facts lack it, since it is not a served
// kind. Source: k8s.io/api/admission/v1/types.go.

import { schemaOfType } from "../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"

const text: Schema = { type: "string" }

const status = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.Status")
if (status === undefined) throw new Error("the facts have no Status")

const response: Schema = {
  type: "object",
  name: "io.k8s.api.admission.v1.AdmissionResponse",
  fields: {
    uid: { schema: text, goType: "types.UID" },
    allowed: { schema: { type: "boolean" } },
    status: { schema: status },
    patch: { schema: { type: "string", format: "byte" } },
    patchType: { schema: text, goType: "v1.PatchType" },
    auditAnnotations: { schema: { type: "map", items: text } },
    warnings: { schema: { type: "list", items: text } },
  },
}

/** The request in the response, which the server sent itself, is ignored. */
export const answeredReview: Schema = {
  type: "object",
  name: "io.k8s.api.admission.v1.AdmissionReview",
  fields: { kind: { schema: text }, apiVersion: { schema: text }, response: { schema: response } },
}
