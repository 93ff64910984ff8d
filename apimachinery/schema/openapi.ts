// The OpenAPI documents of a control plane, from its resource definitions: version 3 per group version with an index, and
// version 2 as one document. Enough for kubectl explain, apply, create --validate, and clients that read schemas.

import { createHash } from "node:crypto"
import type { Json } from "../object.ts"
import { printGroupVersion } from "../object.ts"
import { type Descriptions, descriptionsVersion, noDescriptions } from "./descriptions.ts"
import { release, schemaOf, schemaOfType } from "./facts.ts"
import { isConnected, pathsOf, type PublishedKind, type PublishedResource, type Shapes } from "./openapi-paths.ts"
import type { JsonObject } from "./json-object.ts"
import { protobufMediaType } from "./protobuf.ts"
import { customListFields, customSchema, selectableExtension } from "./openapi-custom.ts"
import { Definitions, type Dialect, objectMetaName } from "./openapi-schemas.ts"
import type { Schema } from "./schema.ts"

export interface OpenAPIDefinition extends PublishedResource {
  listKind: string
  subresources: readonly { name: string; group?: string; version?: string; kind: string; verbs: readonly string[] }[]
  schema: Schema
  selectableFields?: readonly string[]
}

interface GroupVersionOf {
  group: string
  version: string
}

/** "api/v1", "apis/apps/v1": where a group version's document is, below /openapi/v3/. */
export function openAPIV3Path({ group, version }: GroupVersionOf): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`
}

/** The answer of /openapi/v3. `generation` of a path changes with what is served, so that clients' caches notice. */
export function openAPIV3Index(
  resources: readonly GroupVersionOf[],
  generation: (path: string) => string,
): { paths: JsonObject } {
  const paths: JsonObject = {}
  for (const path of [...new Set(resources.map(openAPIV3Path))].sort()) {
    const hash = createHash("sha256")
      .update(`${release()} ${descriptionsVersion} ${path} ${generation(path)}`)
      .digest("hex")
      .toUpperCase()
    paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }
  }
  return { paths }
}

/** The document of one group version. `definitions`: all of the control plane, or those of the group version. */
export function openAPIV3(
  groupVersion: GroupVersionOf,
  definitions: readonly OpenAPIDefinition[],
  descriptions: Descriptions = noDescriptions,
): Json {
  const own = definitions.filter((one) => one.group === groupVersion.group && one.version === groupVersion.version)
  const schemas = new Definitions("v3", descriptions)
  const paths = describe(own, schemas, "v3")
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: minor() },
    paths,
    components: {
      schemas: schemas.all(),
      securitySchemes: { BearerToken: { type: "apiKey", in: "header", name: "authorization" } },
    },
  }
}

/** The answer of /openapi/v2, in JSON. */
export function openAPIV2(
  definitions: readonly OpenAPIDefinition[],
  descriptions: Descriptions = noDescriptions,
): Json {
  const schemas = new Definitions("v2", descriptions)
  const paths = describe(definitions, schemas, "v2")
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version: minor() },
    paths,
    definitions: schemas.all(),
    securityDefinitions: { BearerToken: { type: "apiKey", in: "header", name: "authorization" } },
    security: [{ BearerToken: [] }],
  }
}

/** "1.36". */
function minor(): string {
  return release().replace(/^v(\d+\.\d+).*$/, "$1")
}

function describe(definitions: readonly OpenAPIDefinition[], schemas: Definitions, dialect: Dialect): JsonObject {
  const paths: JsonObject = {}
  for (const definition of definitions) {
    const custom = definition.schema.custom === true
    const produces = ["application/json", "application/yaml", ...(custom ? [] : [protobufMediaType])]
    const kind = { group: definition.group, version: definition.version, kind: definition.kind }
    const object = custom ? customObject(definition, schemas, dialect) : schemas.refTo(definition.schema)
    const shapes = shapesOf(definition, object, schemas, dialect)
    const common = { dialect, resource: definition, produces }
    Object.assign(paths, pathsOf({ ...common, kind, verbs: definition.verbs, shapes }))
    for (const sub of definition.subresources) {
      const subKind = {
        group: sub.group ?? definition.group,
        version: sub.version ?? definition.version,
        kind: sub.kind,
      }
      const streams = isConnected(sub.name)
      const subShapes = { ...shapes, object: streams ? undefined : subObject(definition, subKind, object, schemas) }
      Object.assign(
        paths,
        pathsOf({ ...common, kind: subKind, verbs: sub.verbs, shapes: subShapes, subresource: sub.name }),
      )
    }
  }
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function subObject(
  definition: OpenAPIDefinition,
  kind: PublishedKind,
  object: JsonObject,
  schemas: Definitions,
): JsonObject | undefined {
  const isOwn = kind.kind === definition.kind && kind.group === definition.group && kind.version === definition.version
  if (isOwn) return object
  const schema = schemaOf(kind)
  return schema === undefined ? undefined : schemas.refTo(schema)
}

function metaType(name: string, schemas: Definitions): JsonObject {
  const full = `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
  return schemas.refTo(schemaOfType(full) ?? { type: "object", name: full })
}

function shapesOf(definition: OpenAPIDefinition, object: JsonObject, schemas: Definitions, dialect: Dialect): Shapes {
  return {
    object,
    list: listOf(definition, object, schemas, dialect),
    status: metaType("Status", schemas),
    deleteOptions: metaType("DeleteOptions", schemas),
    patch: metaType("Patch", schemas),
    watchEvent: metaType("WatchEvent", schemas),
  }
}

function listOf(
  definition: OpenAPIDefinition,
  object: JsonObject,
  schemas: Definitions,
  dialect: Dialect,
): JsonObject | undefined {
  const { group, version, listKind } = definition
  if (listKind === "") return undefined
  const builtIn = definition.schema.custom === true ? undefined : schemaOf({ group, version, kind: listKind })
  if (builtIn !== undefined) return schemas.refTo(builtIn)
  const metadata = metaType("ListMeta", schemas)
  const words = customListFields(definition.resource)
  return schemas.define(customName({ group, version, kind: listKind }), {
    type: "object",
    required: ["items"],
    description: `${listKind} is a list of ${definition.kind}`,
    properties: {
      apiVersion: { ...schemas.commonField("apiVersion"), type: "string" },
      items: { ...words.items, type: "array", items: object },
      kind: { ...schemas.commonField("kind"), type: "string" },
      metadata: { ...words.metadata, ...(dialect === "v3" ? { allOf: [metadata] } : metadata) },
    },
    "x-kubernetes-group-version-kind": [{ group, kind: listKind, version }],
    ...selectableExtension(definition.selectableFields),
  })
}

/** "example.com/v1 Foo" → "com.example.v1.Foo". */
function customName({ group, version, kind }: PublishedKind): string {
  return [...group.split(".").reverse(), version, kind].join(".")
}

function customObject(definition: OpenAPIDefinition, schemas: Definitions, dialect: Dialect): JsonObject {
  const { group, version, kind } = definition
  const objectMeta = schemas.refTo(schemaOfType(objectMetaName) ?? { type: "object", name: objectMetaName })
  return schemas.define(customName({ group, version, kind }), {
    ...customSchema(definition.schema.source ?? { type: "object" }, dialect, objectMeta, (name) =>
      schemas.commonField(name),
    ),
    "x-kubernetes-group-version-kind": [{ group, kind, version }],
    ...selectableExtension(definition.selectableFields),
  })
}

/** Where the documents of `definitions` are: one key per group version, as the index has them. */
export function groupVersionsOf(definitions: readonly GroupVersionOf[]): string[] {
  return [...new Set(definitions.map(printGroupVersion))]
}
