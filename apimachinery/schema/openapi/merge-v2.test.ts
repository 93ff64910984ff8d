import { describe, expect, test } from "vitest"
import type { Json } from "../../object.ts"
import type { JsonObject } from "../json-object.ts"
import type { Pieces } from "./documents.ts"
import { mergedWith, type Swagger, swaggerBelow } from "./merge-v2.ts"
import { printPieces } from "./pieces.ts"

const refer = (name: string): JsonObject => ({ schema: { $ref: `#/definitions/${name}` } })
const swagger = (parts: Partial<Swagger>): Swagger => ({ paths: {}, definitions: {}, parameters: {}, ...parts })

function* pieces({ paths, definitions, parameters }: Swagger): Pieces {
  yield { within: [], name: "swagger", value: "2.0" }
  for (const [name, value] of Object.entries(paths)) yield { within: ["paths"], name, value }
  for (const [name, value] of Object.entries(definitions)) yield { within: ["definitions"], name, value }
  yield { within: [], name: "parameters", value: parameters }
  yield { within: [], name: "security", value: [] }
}

const merged = (own: Partial<Swagger>, ...others: Partial<Swagger>[]): Json =>
  JSON.parse([...printPieces(mergedWith(others.map(swagger), pieces(swagger(own))))].join("")) as Json

const kind = (group: string): JsonObject => ({
  "x-kubernetes-group-version-kind": [{ group, version: "v1", kind: "K" }],
})

describe("mergedWith()", () => {
  test("adds paths and what they refer to, sorted", () => {
    const own = { paths: { "/b": refer("B") }, definitions: { B: {} }, parameters: { p: { name: "p" } } }
    const other = { paths: { "/a": refer("A") }, definitions: { A: {} }, parameters: { p: { name: "p" }, o: {} } }
    const text = JSON.stringify(merged(own, other))
    expect(text).toBe(
      '{"swagger":"2.0","paths":{"/a":{"schema":{"$ref":"#/definitions/A"}},"/b":{"schema":{"$ref":"#/definitions/B"}}},' +
        '"definitions":{"A":{},"B":{}},"parameters":{"o":{},"p":{"name":"p"}},"security":[]}',
    )
  })

  test("gives another name to what differs, and the same one to what is the same", () => {
    const own = { paths: { "/own": {} }, definitions: { A: { type: "string" } }, parameters: { p: { name: "p" } } }
    const other = (path: string): Partial<Swagger> => ({
      paths: { [path]: { ...refer("A"), parameters: [{ $ref: "#/parameters/p" }] } },
      definitions: { A: { type: "object", properties: { a: { $ref: "#/definitions/A" } } } },
      parameters: { p: { name: "q" } },
    })
    const third = { paths: { "/3": refer("A") }, definitions: { A: { type: "integer" }, A_v3: {} } }
    expect(merged(own, other("/1"), third)).toMatchObject({
      paths: {
        "/1": { schema: { $ref: "#/definitions/A_v2" }, parameters: [{ $ref: "#/parameters/p_v2" }] },
        "/3": { schema: { $ref: "#/definitions/A_v4" } },
      },
      definitions: {
        A: { type: "string" },
        A_v2: { type: "object", properties: { a: { $ref: "#/definitions/A_v2" } } },
        A_v3: {},
        A_v4: { type: "integer" },
      },
      parameters: { p: { name: "p" }, p_v2: { name: "q" } },
    })
  })

  test("unites the kinds of a definition, and needs no description of its own", () => {
    const own = { paths: { "/own": {} }, definitions: { A: { type: "object", ...kind("b") } } }
    const definition = { type: "object", description: "words", ...kind("a") }
    expect(merged(own, { paths: { "/1": refer("A") }, definitions: { A: definition } })).toMatchObject({
      definitions: {
        A: { type: "object", "x-kubernetes-group-version-kind": [{ group: "a" }, { group: "b" }] },
      },
    })
  })

  test("keeps own paths, without definitions that only others of them refer to", () => {
    const own = { paths: { "/both": {} } }
    const other = { paths: { "/both": refer("A"), "/new": refer("B") }, definitions: { A: {}, B: {} } }
    expect(merged(own, other)).toMatchObject({ paths: { "/both": {}, "/new": refer("B") }, definitions: { B: {} } })
    expect(JSON.stringify(merged(own, other))).not.toContain('"A"')
    expect(merged(own, { paths: { "/both": {} }, definitions: { A: {} } })).not.toHaveProperty("definitions")
  })
})

describe("swaggerBelow()", () => {
  test("has the paths below a prefix, and definitions that they or nothing refers to", () => {
    const document = {
      paths: { "/apis/g/v1/a": refer("A"), "/apis/g/v10/b": refer("B") },
      definitions: { A: { items: { $ref: "#/definitions/Item" } }, B: {}, Item: {}, Free: {} },
      parameters: { p: {} },
    }
    expect(swaggerBelow("/apis/g/v1/", document)).toEqual({
      paths: { "/apis/g/v1/a": refer("A") },
      definitions: { A: { items: { $ref: "#/definitions/Item" } }, Item: {}, Free: {} },
      parameters: { p: {} },
    })
  })

  test.each<Json | undefined>([undefined, null, "text", [], { paths: [] }, { paths: { "/a": 1 } }, { definitions: 1 }])(
    "is nothing of %j",
    (document) => expect(swaggerBelow("/", document)).toBeUndefined(),
  )
})
