// Messages as Go writes them, with the JSON they mean (messages.json, made by generate/), for tests of both directions.

import { readFileSync } from "node:fs"
import { parseGroupVersion, type Json } from "../../object.ts"
import { schemaOf } from "../facts.ts"
import type { Schema } from "../schema.ts"

export interface Message {
  kind: string
  protobuf: string
  json: Json
}

export const messages = JSON.parse(
  readFileSync(new URL("../protobuf/messages.json", import.meta.url), "utf8"),
) as readonly Message[]

/** "apps/v1/Deployment" */
export function schemaNamed(name: string): Schema {
  const at = name.lastIndexOf("/")
  const schema = schemaOf({ ...parseGroupVersion(name.slice(0, at)), kind: name.slice(at + 1) })
  if (schema === undefined) throw new Error(`no schema of ${name}`)
  return schema
}
