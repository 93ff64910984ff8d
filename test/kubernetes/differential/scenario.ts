// What is asked: scenarios are data, run step by step against kube-apiserver and against a tenant (run.ts), then compared
// answer by answer (compare.ts).
//
// Texts (paths, bodies, headers) may hold `@{…}`:
//   @{ns}                            the scenario's own namespace, which exists before its first step
//   @{id}                            a word that no other scenario has, for names of objects without a namespace
//   @{number}                        four hexadecimal digits that no other scenario of the run has
//   @{first.metadata.uid}            from the answer to the step with `save: "first"`, of the same server

import type { GroupVersionKind, Json } from "../../../apimachinery/object.ts"

export interface Scenario {
  /** A sentence: what both servers do alike. */
  name: string
  steps: readonly Step[]
  /** Faults are compared in any order: those of a map's entries upstream tells in another each time. */
  anyOrder?: boolean
  /** Nobody has written it: what it waits for or goes on with may never come. Otherwise that is an error, even on both servers. */
  byChance?: true
}

export type Step = RequestStep | WatchStep

export interface RequestStep {
  method: string
  path: string
  headers?: Readonly<Record<string, string>>
  /** A string is sent as it is, all else as JSON. */
  body?: Json | undefined
  /** Default: JSON. */
  contentType?: string
  /** The body, given as JSON, is sent as this kind's protobuf. */
  protobuf?: GroupVersionKind
  /** How the text of the body is written; default: UTF-8. */
  encoding?: "utf16le" | "utf16be"
  /** Impersonated. */
  as?: User
  /** Later steps name the answer by it, which must therefore be what was asked for. */
  save?: string
  /** Asked again until this code comes: what a server does on its own takes a moment. */
  untilCode?: number
  /** Asked again until the answer holds this text, or one of these. */
  untilText?: string | readonly string[]
  /** An OpenAPI document: what others' custom resources add to it is not compared. */
  document?: true
  /** In reports, when method and path do not tell. */
  label?: string
}

/** Opened when its turn comes, closed when the scenario's last step is done and all is seen. */
export interface WatchStep {
  watch: string
  headers?: Readonly<Record<string, string>>
  as?: User
  /** The stream's end is waited for, because the server ends it (timeoutSeconds, an error). */
  untilEnd?: boolean
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

/** What a step is called in reports and in known-differences.yaml. */
export function describeStep(step: Step): string {
  if ("watch" in step) return `WATCH ${step.watch}`
  return step.label ?? `${step.method} ${step.path}`
}

/** `?` or `&`, whatever the path needs. */
export function withQuery(path: string, query: string): string {
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`
}
