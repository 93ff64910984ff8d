import { expect, test } from "vitest"
import type { Json } from "../../object.ts"
import { convertedToV3 } from "./convert-v2.ts"
import { piecesOf, printPieces } from "./pieces.ts"

const reference = { $ref: "#/definitions/Thing" }

test("references lead to version 3, and have no siblings", () => {
  const definitions = { Thing: { properties: { a: reference, b: { ...reference, description: "b" } } } }
  const target = { $ref: "#/components/schemas/Thing" }
  expect(convertedToV3({ swagger: "2.0", definitions })).toEqual({
    openapi: "3.0.0",
    info: null,
    components: { schemas: { Thing: { properties: { a: target, b: { description: "b", allOf: [target] } } } } },
  })
})

test("a schema is not repeated for any number of media types", () => {
  const produces = Array.from({ length: 1000 }, (_, index) => `application/${index}`)
  const responses = { "200": { schema: reference } }
  const document = convertedToV3({ swagger: "2.0", paths: { "/a": { get: { produces, responses } } } })
  expect(JSON.stringify(document).match(/schemas\/Thing/g)).toHaveLength(10)
})

test.each<Json | undefined>([undefined, null, 1, "text", [], {}])("%j is no document", (given) => {
  expect(convertedToV3(given)).toBeUndefined()
})

test.each<Json>([
  { paths: null, definitions: [], responses: 1, securityDefinitions: "x" },
  { paths: { "/a": null, "/b": { get: 1, put: { responses: null, parameters: [null, 1, {}], consumes: 5 } }, c: 1 } },
  { definitions: { a: null, b: { properties: [], items: 1, allOf: {}, $ref: 5, not: [] } } },
])("%j is converted as far as it is one", (given) => {
  expect(convertedToV3({ swagger: "2.0", ...(given as object) })).toMatchObject({ openapi: "3.0.0" })
})

test("a document is the same after it was taken apart", () => {
  const document = { openapi: "3.0.0", paths: {}, components: { schemas: { A: {} }, responses: { B: {} } }, info: null }
  expect(JSON.parse([...printPieces(piecesOf(document))].join(""))).toEqual(document)
})
