// A valid object of every kind, as scenarios write it: in the scenario's namespace, or with a name of the scenario's own.

import { apiVersionOf, minimalObject, storedResources } from "../../../conformance/minimal-objects.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { type ResourceFacts, schemaOf } from "../../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"

export type JsonObject = { [key: string]: Json }

export interface Kind {
  facts: ResourceFacts
  schema: Schema
  /** "apps/v1 Deployment". */
  title: string
  /** Of the collection. */
  path: string
  /** Of the object that `object` makes. */
  objectPath: string
  /** A copy of a valid object. */
  object(): JsonObject
  /** Another one beside it. */
  other(): JsonObject
}

export function kinds(): readonly Kind[] {
  return storedResources().map(kindOf)
}

/** `resource`: "apps/v1/deployments", "v1/pods". */
export function kindNamed(resource: string): Kind {
  const found = storedResources().find((facts) => `${apiVersionOf(facts)}/${facts.resource}` === resource)
  if (found === undefined) throw new Error(`no resource ${resource}`)
  return kindOf(found)
}

function kindOf(facts: ResourceFacts): Kind {
  const schema = schemaOf(facts)
  if (schema === undefined) throw new Error(`no schema of ${facts.kind}`)
  const root = facts.group === "" ? "/api/v1" : `/apis/${apiVersionOf(facts)}`
  const path = `${root}/${facts.namespaced ? "namespaces/@{ns}/" : ""}${facts.resource}`
  const object = (word = "m"): JsonObject => sample(facts, word)
  return {
    facts,
    schema,
    title: `${apiVersionOf(facts)} ${facts.kind}`,
    path,
    objectPath: `${path}/${nameOf(object())}`,
    object: () => object(),
    other: () => object("o"),
  }
}

export function nameOf(object: JsonObject): string {
  return (object["metadata"] as { name: string }).name
}

/** Names of objects without a namespace are the scenario's own, and what the name must agree with. */
function sample(facts: ResourceFacts, word: string): JsonObject {
  const object = minimalObject(facts) as unknown as JsonObject
  if (facts.namespaced) {
    // What an Event is about is in its namespace.
    const here = JSON.parse(
      JSON.stringify(object).replaceAll(`"namespace":"default"`, `"namespace":"@{ns}"`),
    ) as JsonObject
    return word === "m" ? here : renamed(here, `${word}${nameOf(here)}`)
  }
  if (facts.resource === "ipaddresses") return renamed(object, `2001:db8::${word === "m" ? 1 : 2}:@{number}`)
  const own = `${word}@{id}`
  const text = JSON.stringify(object).replaceAll("minimal.example.com", `${own}.example.com`)
  const made = JSON.parse(text) as JsonObject
  return nameOf(made) === "minimal" ? renamed(made, own) : made
}

/** Kinds that take no update without the revision it changes. Those that the server itself writes to in between are not here. */
const conditional: ReadonlySet<string> = new Set([
  "csidrivers",
  "csinodes",
  "csistoragecapacities",
  "leases",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "mutatingwebhookconfigurations",
  "poddisruptionbudgets",
  "runtimeclasses",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
  "volumeattachments",
])

/** The object as an update of the one that the step with `save: "valid"` has made, and that dry runs leave as it is. */
export function asUpdate({ facts }: Kind, object: JsonObject): JsonObject {
  if (!conditional.has(facts.resource)) return object
  const resourceVersion = "@{valid.metadata.resourceVersion}"
  return { ...object, metadata: { resourceVersion, ...(object["metadata"] as JsonObject) } }
}

function renamed(object: JsonObject, name: string): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), name } }
}
