// The fields of the kinds that are copied to super, as of the Kubernetes version that they were last reviewed for. A new field reaches
// the copies without a change here if it is in a structure that is copied whole. Before it is added to known-fields.json, decide:
// it means the same in super, it is translated (names, selectors), super sets it itself, or it is refused (unsupported.ts).

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { resourceSyncs } from "./index.ts"

type Fields = Record<string, string[]>

const reviewed = JSON.parse(readFileSync(new URL("known-fields.json", import.meta.url), "utf8")) as Fields

/** By type, of everything that the schema contains. */
function collect(schema: Schema | undefined, found: Fields): void {
  if (schema === undefined) return
  const { name, fields = {}, items, more } = schema
  const type = name?.split(".").at(-1)
  if (type !== undefined && schema.fields !== undefined) {
    if (found[type] !== undefined) return
    found[type] = Object.keys(fields).sort()
  }
  for (const { schema: of } of Object.values(fields)) collect(of, found)
  collect(items, found)
  if (more !== "none") collect(more, found)
}

test("all fields of the copied kinds have been reviewed", () => {
  const found: Fields = {}
  for (const { resource, kind } of resourceSyncs) {
    const { fields = {} } = schemaOf({ group: resource.group, version: resource.version, kind }) ?? {}
    // Metadata is built anew (conversion/metadata.ts), and a status is not copied down.
    const { metadata: _metadata, status: _status, ...copied } = fields
    found[kind] = Object.keys(copied).sort()
    for (const { schema } of Object.values(copied)) collect(schema, found)
  }
  expect(found).toEqual(reviewed)
})
