// Scenarios are data: they are run step by step against kube-apiserver and against a tenant (run.ts), then the responses are
// compared (compare.ts).
//
// Texts (paths, bodies, headers) may contain `@{…}`:
//   @{ns}                            the scenario's own namespace, which exists before its first step
//   @{id}                            a word unique to the scenario, for names of cluster-scoped objects
//   @{number}                        four hexadecimal digits unique to the scenario within the run
//   @{first.metadata.uid}            from the response to the step with `save: "first"`, of the same server

import type { GroupVersionKind, Json } from "../../../apimachinery/object.ts"

export interface Scenario {
  /** A sentence about the common behaviour of both servers. */
  name: string
  steps: readonly Step[]
  /** Faults are compared in any order: upstream reports those of map entries in random order. */
  anyOrder?: boolean
  /**
   * A random scenario: an expected or referenced response may be missing. Otherwise that is an error, even if both servers agree.
   */
  byChance?: true
  /** It changes documents that other scenarios read, so none of them runs at the same time. */
  alone?: true
}

export type Step = RequestStep | WatchStep

export interface RequestStep {
  method: string
  path: string
  /** With `authorization`, the step has no other credentials; with `impersonate-user`, it impersonates nobody else. */
  headers?: Readonly<Record<string, string>>
  /** A string is sent unchanged, any other value as JSON. */
  body?: Json | undefined
  /** Default: JSON. */
  contentType?: string
  /** The body, specified as JSON, is sent as protobuf of this kind. */
  protobuf?: GroupVersionKind
  /** Encoding of the body's text; default: UTF-8. "latin1": a character is a byte, and nothing is filled in. */
  encoding?: "utf16le" | "utf16be" | "latin1"
  /** Impersonates this user. */
  as?: User
  /** The name by which later steps refer to the response, which must be successful. */
  save?: string
  /** Repeated until the response has this code, for actions that a server performs by itself. */
  untilCode?: number
  /** Repeated until the response contains this text, or one of these. */
  untilText?: string | readonly string[]
  /** An OpenAPI document, which is compared without other scenarios' custom resources. */
  document?: true
  /** Used in reports if method and path are not specific enough. */
  label?: string
}

/** A watch, opened in sequence with the steps, and closed when the last step has ended and all events have been received. */
export interface WatchStep {
  watch: string
  headers?: Readonly<Record<string, string>>
  as?: User
  /** Waits for the end of the stream, because the server ends it (timeoutSeconds, an error, a changed definition). */
  untilEnd?: boolean
  /** Waits for an event that contains this text, which is the last one. */
  untilText?: string
}

export interface User {
  name: string
  groups?: readonly string[]
}

export const mergePatch = "application/merge-patch+json"
export const jsonPatch = "application/json-patch+json"
export const strategicPatch = "application/strategic-merge-patch+json"
export const applyPatch = "application/apply-patch+yaml"

type More = Omit<RequestStep, "method" | "path" | "body">

export const get = (path: string, more: More = {}): RequestStep => ({ method: "GET", path, ...more })
export const post = (path: string, body: Json, more: More = {}): RequestStep => ({
  method: "POST",
  path,
  body,
  ...more,
})
export const put = (path: string, body: Json, more: More = {}): RequestStep => ({ method: "PUT", path, body, ...more })
export const patch = (path: string, contentType: string, body: Json, more: More = {}): RequestStep => ({
  method: "PATCH",
  path,
  contentType,
  body,
  ...more,
})
export const remove = (path: string, body?: Json, more: More = {}): RequestStep => ({
  method: "DELETE",
  path,
  body,
  ...more,
})
export const watch = (path: string, more: Omit<WatchStep, "watch"> = {}): WatchStep => ({ watch: path, ...more })

/** The name of a step in reports and in known-differences.yaml. */
export function describeStep(step: Step): string {
  if ("watch" in step) return `WATCH ${step.watch}`
  return step.label ?? `${step.method} ${step.path}`
}

/** Adds the query with `?` or `&`, depending on the path. */
export function withQuery(path: string, query: string): string {
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`
}
