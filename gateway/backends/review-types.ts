// The types of the reviews that webhooks answer. The schema facts lack them, since no kind of them is served.

import { schemaOfType } from "../../apimachinery/schema/facts.ts"
import type { FieldSchema, Schema } from "../../apimachinery/schema/schema.ts"

/** Upstream can decode both. */
export type ReviewVersion = "v1" | "v1beta1"

export interface ReviewTypes {
  group: string
  kind: string
  versions: Readonly<Record<ReviewVersion, Schema>>
}

interface Review {
  group: string
  /** Such as Admission. */
  name: string
  /** The package of the types without its version. */
  types: string
  /** The fields of the response besides the uid. */
  response: (version: ReviewVersion) => Record<string, FieldSchema>
}

export const textType: Schema = { type: "string" }

const statusOfFacts = schemaOfType("io.k8s.apimachinery.pkg.apis.meta.v1.Status")
if (statusOfFacts === undefined) throw new Error("the facts have no Status")

export const statusType: Schema = statusOfFacts

/** The request in the answer, which the server sent itself, is ignored. */
export function reviewTypes({ group, name, types, response }: Review): ReviewTypes {
  const review = (version: ReviewVersion): Schema => {
    const type = `${types}.${version}.${name}`
    const fields = { uid: { schema: textType, goType: "types.UID" }, ...response(version) }
    return {
      type: "object",
      name: `${type}Review`,
      fields: {
        kind: { schema: textType },
        apiVersion: { schema: textType },
        response: { schema: { type: "object", name: `${type}Response`, fields } },
      },
    }
  }
  return { group, kind: `${name}Review`, versions: { v1: review("v1"), v1beta1: review("v1beta1") } }
}
