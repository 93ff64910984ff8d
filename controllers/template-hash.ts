// The hash of a template: pod-template-hash and the suffix of ControllerRevisions. It is the same in all processes and versions,
// because it is computed from the wire format with sorted fields.

import { suffixAlphabet } from "../apimachinery/names.ts"
import type { Json } from "../apimachinery/object.ts"
import { printingJson } from "../apimachinery/schema/json/print.ts"
import type { Steps } from "../apimachinery/steps.ts"

/** Characters that are hashed in one step. */
const charactersAtOnce = 64 * 1024

/** `text`: of a value, see {@link canonicalizing}. */
export function* hashing(text: string, collisionCount: number | undefined): Steps<string> {
  let hash = offset
  for (let from = 0; from < text.length; from += charactersAtOnce) {
    if (from > 0) yield
    hash = fnv1a(text.slice(from, from + charactersAtOnce), hash)
  }
  if (collisionCount !== undefined) hash = fnv1a(String(collisionCount), hash)
  return safeEncode(String(hash))
}

/** Source: k8s.io/apimachinery/pkg/util/rand (SafeEncodeString). */
function safeEncode(text: string): string {
  let safe = ""
  for (let index = 0; index < text.length; index++)
    safe += suffixAlphabet[text.charCodeAt(index) % suffixAlphabet.length] ?? ""
  return safe
}

const offset = 0x811c9dc5

/** FNV-1a, 32 bits, over UTF-16 code units. */
function fnv1a(text: string, from: number): number {
  let hash = from
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** JSON with sorted fields, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const fields = value as Fields
  let text = ""
  for (const name of namesOf(fields))
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonical(fields[name])}`
  return `{${text}}`
}

/** The same in steps. */
export function canonicalizing(value: unknown): Steps<string> {
  return printingJson((value ?? null) as Json, { print: canonical, keysOf: namesOf })
}

type Fields = Readonly<Record<string, unknown>>

function namesOf(fields: Fields): string[] {
  const names = Object.keys(fields).filter((name) => fields[name] !== undefined && fields[name] !== null)
  return names.sort()
}
