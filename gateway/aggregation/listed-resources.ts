// Parses the resources that a server lists, in either form of discovery, to those of the aggregated form. The response is untrusted,
// and everything that does not conform to the types of discovery is dropped. Sources: ConvertGroupVersionIntoToDiscovery in
// k8s.io/apiserver/pkg/endpoints/installer.go, k8s.io/kube-aggregator/pkg/apiserver/handler_discovery.go.

import type { Json } from "../../apimachinery/object.ts"
import { decodeObject } from "../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../apimachinery/schema/facts.ts"
import { isObject } from "../../apimachinery/schema/json-object.ts"
import type { Schema } from "../../apimachinery/schema/schema.ts"
import { hasReason } from "../../apimachinery/status.ts"
import { discoveryList } from "./discovery-kinds.ts"

/** The group and version may be missing. */
interface ListedKind {
  group: string
  version: string
  kind: string
}

interface ListedSubresource {
  subresource: string
  responseKind: ListedKind
  acceptedTypes?: readonly ListedKind[]
  verbs: readonly string[] | null
}

/** An APIResourceDiscovery. */
export interface ListedResource {
  resource: string
  responseKind: ListedKind
  scope: string
  singularResource: string
  verbs: readonly string[] | null
  shortNames?: readonly string[]
  categories?: readonly string[]
  subresources?: ListedSubresource[]
}

/** From an APIResourceList; optional fields may be missing. */
interface APIResource {
  name: string
  singularName?: string
  namespaced?: boolean
  group?: string
  version?: string
  kind?: string
  verbs?: string[]
  shortNames?: string[]
  categories?: string[]
}

/** Returns undefined if the document is not an APIResourceList. */
export function resourcesOf(document: Json | undefined): readonly ListedResource[] | undefined {
  const schema = schemaOf({ group: "", version: "v1", kind: "APIResourceList" })
  if (schema === undefined) throw new Error("the facts have no APIResourceList")
  const list = decoded<{ resources?: readonly Partial<APIResource>[] }>(schema, "APIResourceList", document)
  if (list === undefined) return undefined
  const named = (list.resources ?? []).filter((one): one is APIResource => Boolean(one.name))
  const found = named.filter(({ name }) => !name.includes("/")).map(ofResource)
  // Of several resources with one name, as upstream the last one has the subresources.
  const parents = new Map(found.map((one) => [one.resource, one]))
  for (const one of named) {
    const slash = one.name.indexOf("/")
    if (slash < 0) continue
    const name = one.name.slice(0, slash)
    let parent = parents.get(name)
    if (parent === undefined) {
      parent = { resource: name, responseKind: kindOf({}), scope: scopeOf(one), singularResource: "", verbs: null }
      parents.set(name, parent)
      found.push(parent)
    }
    if (parent.scope !== scopeOf(one)) return undefined
    const responseKind = one.kind ? kindOf(one) : kindOf({})
    parent.subresources ??= []
    parent.subresources.push({ subresource: one.name.slice(slash + 1), responseKind, verbs: one.verbs ?? null })
  }
  return found
}

function ofResource(one: APIResource): ListedResource {
  const { name, singularName = "", verbs = null, shortNames, categories } = one
  return {
    resource: name,
    responseKind: kindOf(one),
    scope: scopeOf(one),
    singularResource: singularName,
    verbs,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  }
}

const kindOf = ({ group = "", version = "", kind = "" }: Partial<ListedKind>): ListedKind => ({ group, version, kind })

const scopeOf = ({ namespaced }: APIResource): string => (namespaced === true ? "Namespaced" : "Cluster")

type Given<T> = Partial<Omit<T, "responseKind" | "subresources">> & {
  responseKind?: Partial<ListedKind>
  subresources?: readonly Given<ListedSubresource>[]
}

interface GivenList {
  items?: readonly {
    metadata?: { name?: string }
    versions?: readonly { version?: string; resources?: readonly Given<ListedResource>[] }[]
  }[]
}

/** Those of a group version in an APIGroupDiscoveryList; none, if it is not in there. Returns undefined if it is no such list. */
export function resourcesIn(
  document: Json | undefined,
  group: string,
  version: string,
): readonly ListedResource[] | undefined {
  const list = decoded<GivenList>(discoveryList(), "APIGroupDiscoveryList", document)
  if (list === undefined) return undefined
  // Of several the last one counts.
  const versions = (list.items ?? []).flatMap((item) => (item.metadata?.name === group ? (item.versions ?? []) : []))
  const found = versions.findLast((one) => one.version === version)?.resources ?? []
  return found.filter(({ resource }) => Boolean(resource)).map(ofDiscovery)
}

function ofDiscovery({ subresources, ...one }: Given<ListedResource>): ListedResource {
  const { resource = "", responseKind = {}, scope = "", singularResource = "", verbs = null, ...lists } = one
  const own = { resource, responseKind: kindOf(responseKind), scope, singularResource, verbs, ...lists }
  return subresources === undefined ? own : { ...own, subresources: subresources.map(ofSubresource) }
}

function ofSubresource({ subresource = "", responseKind = {}, acceptedTypes, verbs = null }: Given<ListedSubresource>) {
  const types = acceptedTypes === undefined ? {} : { acceptedTypes: acceptedTypes.map(kindOf) }
  return { subresource, responseKind: kindOf(responseKind), ...types, verbs }
}

function decoded<T>(schema: Schema, kind: string, document: Json | undefined): T | undefined {
  if (document === undefined || !isObject(document)) return undefined
  if ((document["kind"] ?? kind) !== kind) return undefined
  try {
    decodeObject(schema, document, false)
  } catch (error) {
    if (hasReason(error, "BadRequest")) return undefined
    throw error
  }
  return document as T
}
