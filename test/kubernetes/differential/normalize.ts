// Makes two transcripts comparable: values that necessarily differ between servers (uids, revisions, times, addresses) are
// replaced by words for their type and identity, so that "the same uid as before" is still compared.

import { parseAllDocuments } from "yaml"
import { parseExactly } from "../../../apimachinery/schema/exact-integers.ts"
import { decodeOpenAPI } from "./protobuf-documents.ts"
import { decodeProtobuf, decodeProtobufEvent } from "./protobuf.ts"
import type { Entry, Transcript } from "./run.ts"
import { eventsOf } from "./watch-events.ts"

/** One response in comparable form. */
export interface NormalEntry {
  title: string
  code: number
  headers: Record<string, string>
  body: unknown
}

/** Headers that clients use: compared exactly. */
const comparedHeaders = [
  "content-type",
  "warning",
  "retry-after",
  "allow",
  "location",
  "vary",
  "cache-control",
  "accept-patch",
  "deprecation",
  "www-authenticate",
  "accept-ranges",
  "x-kubernetes-pf-flowschema-uid",
  "x-kubernetes-pf-prioritylevel-uid",
]
/** Compared only by presence. */
const presentHeaders = ["audit-id", "etag", "expires", "last-modified", "content-range"]

const uidPattern = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const timePattern = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g
/** In the range of the servers, and in those that scenarios add. */
const serviceAddress = /\b(10\.96\.\d{1,3}|10\.77\.0|192\.0\.2)\.\d{1,3}\b(?!\/)/g
/** Names created from a generateName, within texts. */
const generatedName = /(gen-|Bad_Name-|x{58})[bcdfghjklmnpqrstvwxz2456789]{5}\b/g
/** A line number in upstream's source, which only its messages contain. */
const sourceLine = / in scheme "[^"]*scheme\.go:\d+"/g
/** Go notices the end of a request's time in one of two ways. */
const canceledRequest = "net/http: request canceled (Client.Timeout"
/** A patched object that cannot be decoded is printed completely, with its fields in their original order. */
const printedObject = /Invalid value: "\{[^]*\}": /g
/** The revision of an object printed within a message. */
const printedRevision = /(resourceVersion\\?":\\?")(\d+)/g
const agePattern = /^(<invalid>|<unknown>|\d+(ms|[smhdy])(\d+[smhd])?)$/
/** The ports of a service in a table. */
const nodePortCell = /(\b\d+:)3[0-2]\d{3}\//g
/** The name of a service account token volume. */
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g
/** After the message of a rejected change, kube-apiserver prints the change in Go's format. */
const printedChange = /(are immutable|is immutable|may not change fields|immutable after creation)([^\n]*)\n[^]*/
/** An immutable value is printed in Go's format. */
const printedValue = /Invalid value: (\[[^]*?\](?=: field is immutable)|\{[^]*?\})(?=: )/g
/** Authorities that a server tells. */
const certificates = /(-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n?)+/g
/** The token of a service account, outside of dedicated fields. */
const webToken = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g
const portFields: ReadonlySet<string> = new Set(["nodePort", "healthCheckNodePort"])
/** The addresses of the servers. */
const ownAddress = /\b(127\.0\.0\.1|localhost):\d+(\/tenants\/differential)?/g
const ownPrefix = /^\/tenants\/differential(?=\/)/
/** Of a rules review, which upstream collects in the order of its caches, another each time. */
const isRules = /^(r|nonR)esourceRules$/
/** The hash of a complete document. */
const documentHash = /\?hash=[0-9A-F]{128}/g
const ownIssuer = /https:\/\/kubernetes\.default\.svc(\.cluster\.local)?(\/tenants\/differential)?/g

/** Of the same steps on each server. Managers are ordered by the seconds of their writes, which begin elsewhere on each. */
export function normalize(transcripts: readonly Transcript[]): NormalEntry[][] {
  const anyManagerOrder = transcripts.some(spansSeconds)
  return transcripts.map((transcript) => normalizeOne(transcript, anyManagerOrder))
}

function normalizeOne({ namespace, id, entries }: Transcript, anyManagerOrder: boolean): NormalEntry[] {
  const words = new Words({ namespace, id, anyManagerOrder })
  const normal = new Map<Entry, NormalEntry>()
  // Watches come last: their content was in an earlier response, from which it has its word.
  const order = [...entries].toSorted((a, b) => Number("watch" in a.step) - Number("watch" in b.step))
  for (const entry of order) {
    words.at(entries.indexOf(entry) + 1)
    normal.set(entry, {
      title: entry.title,
      code: entry.code,
      headers: words.headers(entry),
      body: words.body(entry),
    })
  }
  return entries.flatMap((entry) => normal.get(entry) ?? [])
}

/** Words for uids and revisions contain the step in which they first occurred, and their number within that step. */
class Words {
  readonly #namespace: string
  readonly #id: string
  readonly #anyManagerOrder: boolean
  readonly #words = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  #step = 0

  constructor({ namespace, id, anyManagerOrder }: { namespace: string; id: string; anyManagerOrder: boolean }) {
    this.#namespace = namespace
    this.#id = id
    this.#anyManagerOrder = anyManagerOrder
  }

  at(step: number): void {
    this.#step = step
    this.#counts.clear()
  }

  headers({ headers }: Entry): Record<string, string> {
    const out: Record<string, string> = {}
    for (const name of comparedHeaders) {
      const value = headers[name]
      if (value !== undefined) out[name] = this.#text(Array.isArray(value) ? value.join("\n") : value)
    }
    const { location } = out
    if (location !== undefined) out["location"] = location.replace(ownPrefix, "").replace(documentHash, "?hash=<hash>")
    for (const name of presentHeaders) if (headers[name] !== undefined) out[name] = "(present)"
    return out
  }

  body(entry: Entry): unknown {
    const documents = parseBody(entry)
    if (!("watch" in entry.step) && entry.step.document === true) return openAPIDocument(documents[0], this.#id)
    return documents.length === 1
      ? this.#value(documents[0], "")
      : documents.map((document) => this.#value(document, ""))
  }

  #value(value: unknown, field: string): unknown {
    if (typeof value === "string") return this.#string(value, field)
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#value(item, field))
      if (field === "causes") return once(items)
      const isInAnyOrder = isRules.test(field) || (this.#anyManagerOrder && field === "managedFields")
      return isInAnyOrder ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items
    }
    if (typeof value !== "object" || value === null)
      return portFields.has(field) && isNodePort(value) ? "<node port>" : value
    const object = value as Record<string, unknown>
    const out: Record<string, unknown> = {}
    // Sorted by name, so that the numbers of a step's uids do not depend on the order of fields, which is not compared.
    for (const [key, inner] of Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      if (key === "description" && "priority" in object && "format" in object) continue // prose of a column
      out[this.#text(key)] = isListRevision(object, key) ? "<revision of the list>" : this.#value(inner, key)
    }
    const generate = object["generateName"]
    if (typeof generate === "string" && typeof object["name"] === "string" && object["name"].startsWith(generate)) {
      out["name"] = `${this.#text(generate)}<${object["name"].length - generate.length} generated>`
    }
    return out
  }

  #string(value: string, field: string): unknown {
    if (field === "resourceVersion" && /^\d+$/.test(value)) return this.#word("revision", value)
    if (field === "continue" && value !== "") return "<continue>"
    if (field === "cells" && agePattern.test(value)) return "<age>"
    if (field === "cells") return this.#text(value.replaceAll(nodePortCell, "$1<node port>/"))
    if (field === "token") return value === "" ? "" : "<token>"
    return this.#text(value)
  }

  #text(text: string): string {
    return text
      .replaceAll(this.#namespace, "@{ns}")
      .replaceAll(this.#id, "@{id}")
      .replaceAll(uidPattern, (uid) => this.#word("uid", uid))
      .replaceAll(printedRevision, (_, before: string, revision: string) => before + this.#word("revision", revision))
      .replaceAll(certificates, "<certificates>")
      .replaceAll(webToken, "<token>")
      .replaceAll(timePattern, (_, fraction: string | undefined) =>
        fraction === undefined ? "<time>" : "<micro time>",
      )
      .replaceAll(tokenVolume, "kube-api-access-<generated>")
      .replace(printedChange, "$1$2\n<the change>")
      .replaceAll(printedValue, "Invalid value: <value>")
      .replaceAll(serviceAddress, "<service address>")
      .replaceAll(ownAddress, "<the server>")
      .replaceAll(ownIssuer, "<the issuer>")
      .replace(/(Too large resource version: )\d+(, current: )\d+/, "$1<revision>$2<revision>")
      .replaceAll(generatedName, "$1<generated>")
      .replaceAll(sourceLine, "")
      .replaceAll(canceledRequest, "context deadline exceeded (Client.Timeout")
      .replaceAll(/\bselfType\d+/g, "selfType")
      .replaceAll(printedObject, 'Invalid value: "<object>": ')
      .replaceAll(/\b(ResourceVersion in object meta|resource version): \d+/gi, "$1: <revision>")
      .replaceAll(/(ResourceVersion in (?:record|the precondition)) \(\d+\)/g, "$1 (<revision>)")
  }

  #word(what: string, value: string): string {
    const key = `${what} ${value}`
    const known = this.#words.get(key)
    if (known !== undefined) return known
    const count = (this.#counts.get(what) ?? 0) + 1
    this.#counts.set(what, count)
    const word = `<${what} of step ${this.#step}${count === 1 ? "" : `, ${count}`}>`
    this.#words.set(key, word)
    return word
  }
}

/** Names that belong to the API groups of scenarios. */
const customGroup = /example\.com|com\.example/

/** An OpenAPI document: hashes cover the complete document, and other scenarios have custom resources, too. */
function openAPIDocument(value: unknown, id: string): unknown {
  if (typeof value === "string") return value.replace(documentHash, "?hash=<hash>")
  if (Array.isArray(value)) return value.map((item) => openAPIDocument(item, id))
  if (typeof value !== "object" || value === null) return value
  const own = Object.entries(value).filter(([key]) => !customGroup.test(key) || key.includes(id))
  return Object.fromEntries(own.map(([key, inner]) => [key, openAPIDocument(inner, id)]))
}

/** On updates kube-apiserver validates metadata up to three times, and reports each fault each time. */
function once(causes: readonly unknown[]): unknown[] {
  return [...new Map(causes.map((cause) => [JSON.stringify(cause), cause])).values()]
}

function isNodePort(value: unknown): boolean {
  return typeof value === "number" && value >= 30_000 && value <= 32_767
}

/** The revision of a list or a bookmark is that of the store, which other scenarios advance. In protobuf their name is empty. */
function isListRevision({ name = "", uid = "" }: Record<string, unknown>, key: string): boolean {
  return key === "resourceVersion" && name === "" && uid === ""
}

const parsedBodies = new WeakMap<Entry, unknown[]>()

/** The documents in a body: a single one, or the events of a watch. */
function parseBody(entry: Entry): unknown[] {
  let documents = parsedBodies.get(entry)
  if (documents === undefined) parsedBodies.set(entry, (documents = parseDocuments(entry)))
  return documents
}

function parseDocuments({ headers, body, step }: Entry): unknown[] {
  const text = body.toString()
  const type = headers["content-type"] ?? ""
  const isWatch = "watch" in step
  if (type.includes("yaml")) return yamlDocuments(text)
  if (type.includes("proto-openapi")) return [decodeOpenAPI(body)]
  if (type.includes("protobuf")) return [isWatch ? eventsOf(body, type).map(decodeProtobufEvent) : decodeProtobuf(body)]
  const isDocument = !isWatch && step.document !== undefined // the media type of the OpenAPI index is text
  if (!type.includes("json") && !isDocument) return [text]
  return [isWatch ? eventsOf(body).map((line) => parseJson(line.toString())) : parseJson(text)]
}

/** Read as Kubernetes reads them: in YAML 1.1, words such as yes are no texts. */
function yamlDocuments(text: string): unknown[] {
  return parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS() as unknown)
}

/** Whether there is an object whose managers wrote in different seconds. */
function spansSeconds({ entries }: Transcript): boolean {
  return entries.some((entry) => parseBody(entry).some(hasTimes))
}

function hasTimes(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasTimes)
  if (typeof value !== "object" || value === null) return false
  return Object.entries(value).some(([key, inner]) =>
    key === "managedFields" && Array.isArray(inner)
      ? new Set(inner.map((entry: { time?: string } | null) => entry?.time)).size > 1
      : hasTimes(inner),
  )
}

function parseJson(text: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}
