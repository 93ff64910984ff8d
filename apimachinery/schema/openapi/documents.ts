// The OpenAPI documents of a control plane, generated from its resource definitions: version 3 per group version with an index,
// and version 2 as one document. A document is generated lazily in pieces, because a whole one takes tens of milliseconds.

import { createHash } from "node:crypto"
import type { GroupVersion, Json } from "../../object.ts"
import { type Descriptions, descriptionsVersion, noDescriptions } from "../descriptions.ts"
import { release, schemaOf, schemaOfType } from "../facts.ts"
import type { JsonObject } from "../json-object.ts"
import type { Schema } from "../schema.ts"
import { customListFields, customSchema, selectableExtension } from "./custom.ts"
import { addGroup, addGroupVersion, plainDocuments, type Refer } from "./discovery.ts"
import { factsDigest, optionVersions } from "./facts.ts"
import { pathItem, type PublishedKind } from "./operations.ts"
import { PrintedParameters } from "./parameters.ts"
import { addPaths, type Paths, type PublishedResource, type Shapes } from "./paths.ts"
import { Definitions, type Dialect, objectMetaName } from "./schemas.ts"

export interface OpenAPIDefinition extends PublishedResource {
  listKind: string
  subresources: readonly { name: string; group?: string; version?: string; kind: string; verbs: readonly string[] }[]
  schema: Schema
  selectableFields?: readonly string[]
}

/** A document; undefined marks a point where the caller may yield. */
export type Pieces = Iterable<Piece | undefined>

/** A member of the document, or of one of its members. */
export interface Piece {
  /** The parent: [] is the document itself, ["components", "schemas"] is below. */
  within: readonly string[]
  name: string
  value: Json
}

/** "api/v1", "apis/apps/v1": the path of a group version's document below /openapi/v3/. */
export function openAPIV3Path({ group, version }: GroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`
}

const isCustom = ({ schema }: OpenAPIDefinition): boolean => schema.custom === true

/** The paths of all version 3 documents, sorted. */
export function openAPIV3Paths(definitions: readonly OpenAPIDefinition[]): string[] {
  const groups = definitions.filter((one) => !isCustom(one) && one.group !== "").map(({ group }) => `apis/${group}`)
  const found = new Set([...Object.keys(plainDocuments), ...groups, ...definitions.map(openAPIV3Path)])
  return [...found].sort()
}

/** The hash of a document: changes with its content. `content` identifies the custom resources; it is empty for built-in ones. */
export function openAPIHash(path: string, content: string): string {
  const inputs = [factsDigest(), documentsVersion, descriptionsVersion, path, content]
  return createHash("sha512").update(JSON.stringify(inputs)).digest("hex").toUpperCase()
}

/** To be changed when other documents are generated from the same facts: clients cache them by hash. */
const documentsVersion = "5"

/** A version 3 document by its path; undefined if there is none. */
export function openAPIV3(
  path: string,
  definitions: readonly OpenAPIDefinition[],
  descriptions: Descriptions = noDescriptions,
): Pieces | undefined {
  const plain = plainDocuments[path]
  if (plain !== undefined) return new Builder("v3", descriptions, []).v3(kubernetes, plain)
  const own = definitions.filter((one) => openAPIV3Path(one) === path)
  const [first] = own
  if (first !== undefined) {
    const versions = isCustom(first) ? clientVersions() : serverVersions(first)
    const builder = new Builder("v3", descriptions, versions)
    if (isCustom(first)) return builder.v3(customInfo, () => undefined, own)
    return builder.v3(kubernetes, (paths, refer) => addGroupVersion(paths, first, refer), own)
  }
  const group = definitions.find((one) => !isCustom(one) && one.group !== "" && `apis/${one.group}` === path)?.group
  if (group === undefined) return undefined
  return new Builder("v3", descriptions, []).v3(kubernetes, (paths, refer) => addGroup(paths, group, refer))
}

/** The document of version 2. */
export function openAPIV2(
  definitions: readonly OpenAPIDefinition[],
  descriptions: Descriptions = noDescriptions,
): Pieces {
  return new Builder("v2", descriptions, optionVersions()).v2(definitions)
}

const kubernetes = "Kubernetes"
const customInfo = "Kubernetes CRD Swagger"

/** Such as "1.36". */
function minor(): string {
  return /^v(\d+\.\d+)/.exec(release())?.[1] ?? release()
}

function serverVersions({ group, version }: GroupVersion): GroupVersion[] {
  const core = { group: "", version: "v1" }
  return group === "" ? [core] : [core, { group, version }]
}

/** Groups missing from documents of custom resources, which upstream generates with client-go's scheme. */
const onlyOfServers: ReadonlySet<string> = new Set([
  "admission.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "imagepolicy.k8s.io",
])

function clientVersions(): GroupVersion[] {
  return optionVersions().filter(({ group }) => !onlyOfServers.has(group))
}

const token = { description: "Bearer Token authentication", type: "apiKey", name: "authorization", in: "header" }

/** The state of generating one document. */
class Builder {
  readonly #dialect: Dialect
  readonly #paths: Paths = new Map()
  readonly #schemas: Definitions
  readonly #parameters: PrintedParameters

  constructor(dialect: Dialect, descriptions: Descriptions, versions: readonly GroupVersion[]) {
    this.#dialect = dialect
    this.#schemas = new Definitions({ dialect, descriptions, optionVersions: versions })
    this.#parameters = new PrintedParameters(dialect, descriptions)
  }

  *v3(
    title: string,
    fill: (paths: Paths, refer: Refer) => void,
    definitions: readonly OpenAPIDefinition[] = [],
  ): Generator<Piece | undefined> {
    const isServers = title === kubernetes
    yield { within: [], name: "openapi", value: "3.0.0" }
    yield { within: [], name: "info", value: { title, version: isServers ? minor() : "v0.1.0" } }
    fill(this.#paths, this.#refer)
    yield* this.#describe(definitions)
    yield* this.#items()
    for (const [name, value] of this.#schemas.all()) yield { within: ["components", "schemas"], name, value }
    if (isServers) yield { within: ["components"], name: "securitySchemes", value: { BearerToken: token } }
  }

  *v2(definitions: readonly OpenAPIDefinition[]): Generator<Piece | undefined> {
    yield { within: [], name: "swagger", value: "2.0" }
    yield { within: [], name: "info", value: { title: kubernetes, version: minor() } }
    for (const fill of Object.values(plainDocuments)) fill(this.#paths, this.#refer)
    const builtIn = definitions.filter((one) => !isCustom(one))
    for (const one of builtIn) {
      if (one.group !== "") addGroup(this.#paths, one.group, this.#refer)
      addGroupVersion(this.#paths, one, this.#refer)
    }
    yield* this.#describe(definitions)
    yield* this.#items()
    for (const [name, value] of this.#schemas.all()) yield { within: ["definitions"], name, value }
    yield { within: [], name: "parameters", value: this.#parameters.all() }
    yield { within: [], name: "securityDefinitions", value: { BearerToken: token } }
    yield { within: [], name: "security", value: [{ BearerToken: [] }] }
  }

  /** Adds the paths of resources and their subresources. */
  *#describe(definitions: readonly OpenAPIDefinition[]): Generator<undefined> {
    for (const definition of definitions) {
      const { group, version, kind } = definition
      const custom = isCustom(definition)
      const own = { group, version, kind }
      const object = remembered(() => (custom ? this.#custom(definition) : this.#schemas.refTo(definition.schema)))
      const list = remembered(() => this.#list(definition, object()))
      const shapes: Shapes = { object, list, meta: (name) => this.#meta(name) }
      const common = { resource: definition, custom }
      addPaths(this.#paths, { ...common, kind: own, verbs: definition.verbs, shapes })
      for (const sub of definition.subresources) {
        const subKind = { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind }
        const subShapes = { ...shapes, object: () => (sameKind(own, subKind) ? object() : this.#kind(subKind)) }
        addPaths(this.#paths, { ...common, kind: subKind, verbs: sub.verbs, shapes: subShapes, subresource: sub.name })
      }
      yield undefined
    }
  }

  *#items(): Generator<Piece | undefined> {
    for (const path of [...this.#paths.keys()].sort()) {
      const value = pathItem(this.#dialect, this.#paths.get(path) ?? [], this.#parameters)
      yield { within: ["paths"], name: path, value }
    }
  }

  readonly #refer: Refer = (type) => this.#schemas.refTo(schemaOfType(type) ?? { type: "object", name: type })

  #meta(name: string): JsonObject {
    return this.#refer(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`)
  }

  #kind(kind: PublishedKind): JsonObject | undefined {
    const schema = schemaOf(kind)
    return schema === undefined ? undefined : this.#schemas.refTo(schema)
  }

  #list(definition: OpenAPIDefinition, object: JsonObject): JsonObject | undefined {
    const { group, version, listKind } = definition
    if (listKind === "") return undefined
    if (!isCustom(definition)) return this.#kind({ group, version, kind: listKind })
    const metadata = this.#meta("ListMeta")
    const words = customListFields(definition.resource)
    return this.#schemas.define(customName({ group, version, kind: listKind }), {
      type: "object",
      required: ["items"],
      description: `${listKind} is a list of ${definition.kind}`,
      properties: {
        apiVersion: { ...this.#schemas.commonField("apiVersion"), type: "string" },
        items: { ...words.items, type: "array", items: object },
        kind: { ...this.#schemas.commonField("kind"), type: "string" },
        metadata: { ...words.metadata, ...(this.#dialect === "v3" ? { allOf: [metadata] } : metadata) },
      },
      "x-kubernetes-group-version-kind": [{ group, kind: listKind, version }],
      ...selectableExtension(definition.selectableFields),
    })
  }

  #custom(definition: OpenAPIDefinition): JsonObject {
    const { group, version, kind } = definition
    const objectMeta = this.#refer(objectMetaName)
    const source = definition.schema.source ?? { type: "object" }
    return this.#schemas.define(customName({ group, version, kind }), {
      ...customSchema(source, this.#dialect, objectMeta, (name) => this.#schemas.commonField(name)),
      "x-kubernetes-group-version-kind": [{ group, kind, version }],
      ...selectableExtension(definition.selectableFields),
    })
  }
}

function remembered<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function sameKind(a: PublishedKind, b: PublishedKind): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind
}

/** "example.com/v1 Foo" → "com.example.v1.Foo". */
function customName({ group, version, kind }: PublishedKind): string {
  return [...group.split(".").reverse(), version, kind].join(".")
}
