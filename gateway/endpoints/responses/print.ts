// Encodes a JSON value as text or as a protobuf message.

import { printJson } from "../../../apimachinery/go/print.ts"
import { type Json, type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts"
import { schemaOf, schemaOfType } from "../../../apimachinery/schema/facts.ts"
import { encodeProtobuf } from "../../../apimachinery/schema/protobuf/encode.ts"
import { survey } from "../../../apimachinery/schema/json/survey.ts"
import type { Schema } from "../../../apimachinery/schema/schema.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import type { RequestContext } from "../../request/context.ts"
import { printYaml } from "../../../apimachinery/schema/yaml/print.ts"
import { minThreadBytes, yamlThread } from "../../request/yaml-thread.ts"
import type { Negotiated } from "../negotiation.ts"

/** Depth of objects that are printed as YAML on the main thread, whose stack is smaller. */
const maxMainDepth = 100

export function printed(object: unknown, { format, pretty }: Pick<Negotiated, "format" | "pretty">): Buffer {
  switch (format) {
    case "yaml":
      return printYaml(object as Json)
    case "protobuf":
      return builtInMessage(object as Json)
    case "json":
      return Buffer.from(pretty && !isTooDeep(object) ? printJson(object, 2) : `${printJson(object)}\n`)
  }
}

/** Spaces of an indented text. Beyond: it is not indented. A million values nested 1,000 deep have gigabytes of them. */
const maxIndentation = 16 * 1024 * 1024

function isTooDeep(value: unknown): boolean {
  let spaces = 0
  const visit = (inner: unknown, depth: number): boolean => {
    spaces += 2 * depth
    if (spaces > maxIndentation) return true
    if (typeof inner !== "object" || inner === null) return false
    for (const each of Object.values(inner)) if (visit(each, depth + 1)) return true
    return false
  }
  return visit(value, 0)
}

/** The same; long YAML is printed in another thread. */
export function printing(
  object: unknown,
  form: Pick<Negotiated, "format" | "pretty">,
  aside?: RequestContext["aside"],
): Buffer | Promise<Buffer> {
  if (form.format !== "yaml") return printed(object, form)
  const json = Buffer.from(JSON.stringify(object))
  if (json.length < minThreadBytes && survey(json).depth <= maxMainDepth) return printed(object, form)
  const job = (): Promise<Buffer> => yamlThread.print(json)
  return aside?.(job) ?? job()
}

/** Negotiation excludes kinds without a message. */
function builtInMessage(object: Json): Buffer {
  const { kind = "", apiVersion = "" } = object as Partial<KubeObject>
  // The oldest discovery documents have no apiVersion but belong to v1. Metadata has the same type in all its versions.
  const schema =
    kind === "PartialObjectMetadata" ? metadataSchema() : schemaOf({ ...parseGroupVersion(apiVersion || "v1"), kind })
  if (schema === undefined) throw new Error(`${apiVersion} ${kind} has no message`)
  return encodeProtobuf(schema, object)
}

export function metadataSchema(): Schema {
  const name = "io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata"
  const schema = schemaOfType(name)
  if (schema === undefined) throw new Error(`the facts have no ${name}`)
  return schema
}

export function messageOf({ schema }: ResourceDefinition, object: KubeObject): Buffer {
  return encodeProtobuf(schema, object as unknown as Json)
}
