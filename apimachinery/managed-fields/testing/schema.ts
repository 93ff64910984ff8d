// A schema with every kind of list and map.

import { type Fields, typeOfSchema } from "./state.ts"

export const text = { type: "string" }
export const object = (properties: Fields, more: Fields = {}): Fields => ({ type: "object", properties, ...more })
export const listOf = (items: Fields, type: string, keys?: string[]): Fields => ({
  type: "array",
  items,
  "x-kubernetes-list-type": type,
  ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys }),
})
const port = object({ port: { type: "integer" }, protocol: { ...text, default: "TCP" }, name: text })
const schema = object({
  name: text,
  number: { type: "integer" },
  labels: { type: "object", additionalProperties: text },
  set: listOf(text, "set"),
  ports: listOf(port, "map", ["port", "protocol"]),
  items: listOf(object({ name: text, value: text, labels: { type: "object", additionalProperties: text } }), "map", [
    "name",
  ]),
  atomic: listOf(text, "atomic"),
  selector: object({ app: text, tier: text }, { "x-kubernetes-map-type": "atomic" }),
  nested: object({ a: object({ b: object({ c: text, d: text }) }) }),
})
export const type = typeOfSchema(schema)
