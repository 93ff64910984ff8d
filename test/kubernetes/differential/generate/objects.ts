// A valid object of every kind for scenarios: in the scenario's namespace, or with a name unique to the scenario.

import { apiVersionOf, minimalObject, storedResources } from "../../../conformance/minimal-objects.ts"
import type { Json } from "../../../../apimachinery/object.ts"
import { type ResourceFacts, schemaOf } from "../../../../apimachinery/schema/facts.ts"
import type { Schema } from "../../../../apimachinery/schema/schema.ts"

export type JsonObject = { [key: string]: Json }

export interface Kind {
  facts: ResourceFacts
  schema: Schema
  /** Such as "apps/v1 Deployment". */
  title: string
  /** The path of the collection. */
  path: string
  /** The path of the object that `object` creates. */
  objectPath: string
  /** Returns a copy of a valid object. */
  object(): JsonObject
  /** Returns another valid object. */
  other(): JsonObject
}

export function kinds(): readonly Kind[] {
  return storedResources().map(kindOf)
}

/** `resource`: such as "apps/v1/deployments" or "v1/pods". */
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

/** Cluster-scoped objects have names unique to the scenario, as have fields that must agree with the name. */
function sample(facts: ResourceFacts, word: string): JsonObject {
  const object = minimalObject(facts) as unknown as JsonObject
  if (facts.namespaced) {
    // The object of an Event is in the Event's namespace.
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

/** Kinds whose updates require a resourceVersion. Those that the server itself modifies in between are excluded. */
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

/** The object as an update of the one created by the step with `save: "valid"`, which dry runs leave unchanged. */
export function asUpdate({ facts }: Kind, object: JsonObject): JsonObject {
  if (!conditional.has(facts.resource)) return object
  const resourceVersion = "@{valid.metadata.resourceVersion}"
  return { ...object, metadata: { resourceVersion, ...(object["metadata"] as JsonObject) } }
}

function renamed(object: JsonObject, name: string): JsonObject {
  return { ...object, metadata: { ...(object["metadata"] as JsonObject), name } }
}
