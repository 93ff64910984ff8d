// The operations of one resource, with the names used by kube-apiserver's installer and, for custom resources, its OpenAPI
// controller. Source: registerResourceHandlers in k8s.io/apiserver/pkg/endpoints/installer.go, and generateBuilder in
// k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder.

import { dictionary } from "../../dictionary.ts"
import type { JsonObject } from "../json-object.ts"
import { protobufMediaType } from "../protobuf/parse.ts"
import type { Action, Method, Operation, PublishedKind } from "./operations.ts"
import { describeOperation } from "./operation-descriptions.ts"
import {
  nameParameter,
  namespaceParameter,
  optionParameters,
  type Parameter,
  prettyParameter,
  subpathParameter,
} from "./parameters.ts"

/** The published part of a resource's definition; implemented by the gateway's ResourceDefinition. */
export interface PublishedResource {
  group: string
  version: string
  resource: string
  kind: string
  namespaced: boolean
  verbs: readonly string[]
  /** A delete returns the last state instead of a Status. */
  returnsDeletedObject?: boolean
}

/** References for the bodies and responses of operations, created if a document has such an operation. */
export interface Shapes {
  /** Undefined for text or a stream. */
  object: () => JsonObject | undefined
  list: () => JsonObject | undefined
  meta: (name: "DeleteOptions" | "Patch" | "Status" | "WatchEvent") => JsonObject
}

interface PathsOptions {
  resource: PublishedResource
  subresource?: string
  /** The kind of the body: that of the resource or the subresource. */
  kind: PublishedKind
  verbs: readonly string[]
  shapes: Shapes
  custom: boolean
}

/** Operations by path. */
export type Paths = Map<string, Operation[]>

export const mediaTypes: readonly string[] = ["application/json", "application/yaml", protobufMediaType]
const customMediaTypes = ["application/json", "application/yaml"]
const streams = ["application/json;stream=watch", `${protobufMediaType};stream=watch`]
const jsonPatches = ["application/json-patch+json", "application/merge-patch+json"]
const patchTypes = [...jsonPatches, "application/strategic-merge-patch+json", "application/apply-patch+yaml"]
const customPatchTypes = [...jsonPatches, "application/apply-patch+yaml"]

/** Subresources that carry streams: any method, any body. */
const connected: Readonly<Record<string, readonly Method[]>> = dictionary({
  attach: ["get", "post"],
  exec: ["get", "post"],
  portforward: ["get", "post"],
  proxy: ["get", "put", "post", "delete", "options", "head", "patch"],
})

/** Kinds whose delete returns the object, although they are documented to return a Status. */
const saidToAnswerStatus: ReadonlySet<string> = new Set(["/namespaces"])

/** Adds the operations of a resource or of one of its subresources. */
export function addPaths(paths: Paths, options: PathsOptions): void {
  const { resource, subresource } = options
  const root = resource.group === "" ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const below = resource.namespaced ? `namespaces/{namespace}/${resource.resource}` : resource.resource
  const single = `${below}/{name}`
  const put = (at: string, operations: readonly (Operation | undefined)[]): void => {
    const found = operations.filter((one) => one !== undefined)
    if (found.length > 0) paths.set(`${root}/${at}`, found)
  }
  const resourceOperations = new Operations(options)
  if (subresource !== undefined && Object.hasOwn(connected, subresource)) {
    put(`${single}/${subresource}`, resourceOperations.connect())
    if (subresource === "proxy") put(`${single}/proxy/{path}`, resourceOperations.connect("WithPath"))
    return
  }
  if (subresource !== undefined) {
    put(`${single}/${subresource}`, [...resourceOperations.single(), resourceOperations.create()])
    return
  }
  const all = resource.namespaced
  put(below, [resourceOperations.list(false), resourceOperations.create(), resourceOperations.deleteCollection()])
  put(single, resourceOperations.single())
  if (all) put(resource.resource, [resourceOperations.list(true)])
  if (options.custom) return
  put(`watch/${below}`, [resourceOperations.watch("List", false)])
  put(`watch/${single}`, [resourceOperations.watch("", false)])
  if (all) put(`watch/${resource.resource}`, [resourceOperations.watch("List", true)])
}

class Operations {
  readonly #options: PathsOptions
  readonly #types: readonly string[]

  constructor(options: PathsOptions) {
    this.#options = options
    this.#types = options.custom ? customMediaTypes : mediaTypes
  }

  list(allNamespaces: boolean): Operation | undefined {
    const { shapes, custom } = this.#options
    if (!this.#can("list")) return undefined
    const base = this.#base("get", "list", "list*", { allNamespaces })
    return {
      ...base,
      produces: custom ? this.#types : [...this.#types, ...streams],
      parameters: [...base.parameters, ...optionParameters("ListOptions")],
      answers: { 200: shapes.list() ?? shapes.object() },
    }
  }

  create(): Operation | undefined {
    const schema = this.#can("create") ? this.#options.shapes.object() : undefined
    if (schema === undefined) return undefined
    const base = this.#base("post", "post", "create*", { options: optionParameters("CreateOptions") })
    return { ...base, body: { schema, required: true }, answers: { 200: schema, 201: schema, 202: schema } }
  }

  deleteCollection(): Operation | undefined {
    const { shapes, custom } = this.#options
    if (!this.#can("deletecollection")) return undefined
    const lists = optionParameters("ListOptions", custom ? [] : ["watch", "allowWatchBookmarks"])
    const options = custom ? lists : [...optionParameters("DeleteOptions"), ...lists]
    const base = this.#base("delete", "deletecollection", "delete*Collection", { options })
    const body = custom ? {} : { body: { schema: shapes.meta("DeleteOptions"), required: false } }
    return { ...base, ...body, answers: { 200: shapes.meta("Status") } }
  }

  single(): (Operation | undefined)[] {
    return [this.#read(), this.#replace(), this.#delete(), this.#patch()]
  }

  watch(suffix: "List" | "", allNamespaces: boolean): Operation | undefined {
    if (!this.#can("watch")) return undefined
    const action = suffix === "List" ? "watchlist" : "watch"
    const options = optionParameters("ListOptions")
    const base = this.#base("get", action, "watch*", { options, suffix, allNamespaces, single: suffix === "" })
    return {
      ...base,
      produces: [...this.#types, ...streams],
      answers: { 200: this.#options.shapes.meta("WatchEvent") },
    }
  }

  connect(suffix: "WithPath" | "" = ""): Operation[] {
    const { subresource = "", kind } = this.#options
    const path = suffix === "WithPath" ? [subpathParameter] : []
    return (connected[subresource] ?? []).map((method) => {
      const options = [...optionParameters(kind.kind), ...path]
      const base = this.#base(method, "connect", `connect*${capital(method)}`, { options, suffix, single: true })
      const parameters = base.parameters.filter((one) => one !== prettyParameter)
      return { ...base, parameters, consumes: ["*/*"], produces: ["*/*"], answers: { 200: undefined } }
    })
  }

  #read(): Operation | undefined {
    const { subresource, shapes, custom } = this.#options
    if (!this.#can("get")) return undefined
    const isLog = subresource === "log"
    const options = isLog ? optionParameters("PodLogOptions") : custom ? optionParameters("GetOptions") : []
    const base = this.#base("get", "get", "read*", { options, single: true })
    if (isLog) return { ...base, produces: ["text/plain", ...this.#types], answers: { 200: undefined } }
    return { ...base, answers: { 200: shapes.object() } }
  }

  #replace(): Operation | undefined {
    const schema = this.#can("update") ? this.#options.shapes.object() : undefined
    if (schema === undefined) return undefined
    const base = this.#base("put", "put", "replace*", { options: optionParameters("UpdateOptions"), single: true })
    return { ...base, body: { schema, required: true }, answers: { 200: schema, 201: schema } }
  }

  #delete(): Operation | undefined {
    const { shapes, resource } = this.#options
    if (!this.#can("delete")) return undefined
    const answersObject =
      resource.returnsDeletedObject === true && !saidToAnswerStatus.has(`${resource.group}/${resource.resource}`)
    const answer = answersObject ? shapes.object() : shapes.meta("Status")
    const base = this.#base("delete", "delete", "delete*", { options: optionParameters("DeleteOptions"), single: true })
    const body = { schema: shapes.meta("DeleteOptions"), required: false }
    return { ...base, body, answers: { 200: answer, 202: answer } }
  }

  #patch(): Operation | undefined {
    const { shapes, custom } = this.#options
    if (!this.#can("patch")) return undefined
    const object = shapes.object()
    const base = this.#base("patch", "patch", "patch*", { options: optionParameters("PatchOptions"), single: true })
    return {
      ...base,
      consumes: custom ? customPatchTypes : patchTypes,
      body: { schema: shapes.meta("Patch"), required: true },
      answers: custom ? { 200: object } : { 200: object, 201: object },
    }
  }

  #can(verb: string): boolean {
    return this.#options.verbs.includes(verb)
  }

  #base(
    method: Method,
    action: Action,
    verb: string,
    about: { options?: readonly Parameter[]; suffix?: string; single?: boolean; allNamespaces?: boolean },
  ): Omit<Operation, "answers"> {
    const { options = [], suffix = "", single = false, allNamespaces = false } = about
    const { resource, subresource = "", kind, custom } = this.#options
    const scope = resource.namespaced && !allNamespaces ? "Namespaced" : ""
    const end = `${capital(subresource)}${suffix}${allNamespaces ? "ForAllNamespaces" : ""}`
    const isSingle = single || subresource !== ""
    const published: PublishedKind = custom ? resource : kind
    return {
      method,
      description: describeOperation({
        action,
        method,
        kind: resource.kind,
        subresource,
        watched: !custom && this.#can("watch"),
      }),
      id: operationId(verb.replace("*", camelGroupVersion(resource)), identifier(`${scope}${resource.kind}${end}`)),
      tag: tagOf(resource),
      about: { action, kind: published },
      parameters: [
        prettyParameter,
        ...options,
        ...(resource.namespaced && !allNamespaces ? [namespaceParameter] : []),
        ...(isSingle ? [nameParameter(published.kind)] : []),
      ],
      consumes: custom ? this.#types : ["*/*"],
      produces: this.#types,
    }
  }
}

/** A kind may begin with a small letter, which remains in the name of a collection. */
function operationId(verb: string, object: string): string {
  return verb.endsWith("Collection") ? `${verb}${object}` : `${verb}${capital(object)}`
}

/** "apps/v1" → "AppsV1"; "rbac.authorization.k8s.io/v1" → "RbacAuthorizationV1". */
function camelGroupVersion({ group, version }: { group: string; version: string }): string {
  return `${camelGroup(group)}${capital(identifier(version))}`
}

export function camelGroup(group: string): string {
  return capital(identifier(shortGroup(group)))
}

export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

/** "apps_v1"; without a version, "apps". */
export function tagOf({ group, version }: { group: string; version?: string }): string {
  return [shortGroup(group), ...(version === undefined ? [] : [version])].map(identifier).join("_")
}

function shortGroup(group: string): string {
  return group === "" ? "core" : group.replace(/\.k8s\.io$/, "")
}

/** "a-b.c" → "aBC". It cannot start with a digit. */
function identifier(text: string): string {
  const [first = "", ...rest] = text.replace(/^\d/, "-").split(/[^A-Za-z0-9_]+/)
  return [first, ...rest.map(capital)].join("")
}
