// Derives request attributes from method, path and query. Pure. Source: k8s.io/apiserver/pkg/endpoints/request/requestinfo.go.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { parseFieldSelector, requiredValue } from "../../apimachinery/fields.ts"
import { parseInt64 } from "../../apimachinery/go/integers.ts"
import { escapePath, percentDecoded, textOfBytes } from "../../apimachinery/go/text.ts"
import { parseSelector } from "../../apimachinery/labels.ts"
import { validatePathSegmentName } from "../../apimachinery/names.ts"
import { StatusError } from "../../apimachinery/status.ts"
import { malformedRequest, unreadableTarget } from "../../apimachinery/text-errors.ts"

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection"

/** The attributes of a request in the API's terms. */
export interface RequestInfo {
  isResourceRequest: boolean
  /** For resource requests a Verb (or "proxy"), otherwise the lower-case HTTP method. */
  verb: string
  /** Without the tenant's prefix. */
  path: string
  group: string
  version: string
  namespace: string
  resource: string
  subresource: string
  name: string
  /** The path after the subresource (proxy paths), without a leading slash. */
  rest: string
  /** Of a list, a watch or the deletion of a collection. */
  fieldSelector?: string
}

const verbOfMethod: Readonly<Record<string, string>> = dictionary({
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
})

const selecting: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"])

/** Path segments after the name of a namespace that are its subresources, not resources in it. */
const namespaceSubresources = new Set(["status", "finalize"])

/**
 * `path`: without the tenant's prefix and without the query, still percent-encoded. `search`: the query as it came, with its question
 * mark, for an error.
 */
export function requestInfo(method: string, path: string, query: URLSearchParams, search = ""): RequestInfo {
  const info: RequestInfo = {
    isResourceRequest: false,
    verb: method.toLowerCase(),
    path: decode(path),
    group: "",
    version: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    rest: "",
  }
  // Decoded before splitting: an escaped slash separates like any other.
  const parts = split(info.path)
  const [prefix, ...tail] = parts
  if (parts.length < 3 || (prefix !== "api" && prefix !== "apis")) return info
  if (prefix === "apis") {
    if (tail.length < 3) return info
    info.group = tail.shift() ?? ""
  }
  info.isResourceRequest = true
  info.version = tail.shift() ?? ""
  info.verb = verbOfMethod[method] ?? ""
  const { verb } = info
  if (!parseResource(info, tail)) {
    const shown = usualPath.test(path) ? path : escapePath(info.path)
    throw unreadableTarget(path + search, `unable to determine kind and namespace from url, ${shown}${search}`)
  }
  const isVerbInPath = info.verb !== verb
  refineVerb(info, query)
  const selector = query.get("fieldSelector")
  if (selector !== null && !isVerbInPath && selecting.has(info.verb)) info.fieldSelector = selector
  return info
}

/**
 * `parts`: the segments after the version. A leading "watch" or "proxy" is the deprecated form of the verb. Returns false if nothing
 * follows it.
 */
function parseResource(info: RequestInfo, parts: string[]): boolean {
  if (parts[0] === "watch" || parts[0] === "proxy") {
    if (parts.length < 2) return false
    info.verb = parts.shift() ?? ""
  }
  if (parts[0] === "namespaces" && parts.length > 1) {
    info.namespace = parts[1] ?? ""
    if (parts.length > 2 && !namespaceSubresources.has(parts[2] ?? "")) parts = parts.slice(2)
  }
  info.resource = parts[0] ?? ""
  info.name = parts[1] ?? ""
  if (info.verb === "proxy") {
    info.rest = parts.slice(2).join("/")
    return true
  }
  info.subresource = parts[2] ?? ""
  info.rest = parts.slice(3).join("/")
  return true
}

/** A path that Go writes as it came. Source: net/url (validEncoded). */
const usualPath = /^[\w\-.~$&+,/:;=@!'()*[\]%]*$/

export const hasMalformedEscape = (path: string): boolean => noEscape.test(path)

const noEscape = /%(?![\da-fA-F]{2})/

/** A get without a name is a list or a watch; a delete without one deletes the collection. */
function refineVerb(info: RequestInfo, query: URLSearchParams): void {
  if (info.name !== "") return
  if (info.verb === "delete") info.verb = "deletecollection"
  if (info.verb !== "get") return
  info.verb = isTrue(query.get("watch")) ? "watch" : "list"
  info.name = exactName(query)
}

/** Parses a boolean query parameter like upstream: any value is true except "false" and "0". */
function isTrue(value: string | null): boolean {
  return value !== null && !["false", "0"].includes(value.toLowerCase())
}

/**
 * The name that the selectors of a list require, so that rules with resourceNames can allow such a list. As upstream, none if one of the
 * options cannot be parsed. It must be read by the parser that the list uses: a comma in a value may be escaped.
 */
function exactName(query: URLSearchParams): string {
  const selector = query.get("fieldSelector")
  if (selector === null || selector === "") return ""
  let name: string | undefined
  try {
    name = requiredValue(parseFieldSelector(selector), "metadata.name")
    parseSelector(query.get("labelSelector") ?? "")
    for (const number of ["limit", "timeoutSeconds"]) parseInt64(query.get(number) ?? "0")
  } catch (error) {
    if (error instanceof StatusError) return "" // reported when the options are used
    throw error
  }
  return name === undefined || validatePathSegmentName(name).length > 0 ? "" : name
}

/** Ignores leading and trailing slashes, but not those between. */
function split(path: string): string[] {
  let start = 0
  let end = path.length
  while (path[start] === "/") start++
  while (end > start && path[end - 1] === "/") end--
  return start === end ? [] : path.slice(start, end).split("/")
}

function decode(text: string): string {
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return decodeBytes(text)
  }
}

/**
 * A path need not be valid UTF-8, but its escapes must be valid. Otherwise the error is that of Go's server, which has no more
 * information about the request.
 */
function decodeBytes(text: string): string {
  if (noEscape.test(text)) throw malformedRequest()
  return textOfBytes(percentDecoded(text))
}
