// Validation that several device kinds share: names, limited lists, driver configuration. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation.

import { repeats } from "../../../apimachinery/repeats.ts"
import {
  asJson,
  duplicate,
  type FieldError,
  type FieldPath,
  invalidValue,
  required,
  tooLong,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateDNS1123Subdomain, validateLabelValue } from "../../../apimachinery/names.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"
import { validateLabelName } from "../validation/selectors.ts"
import { messages, oneOf, optionalOneOf } from "../validation/values.ts"
import type { Configuration, Toleration } from "./types.ts"

export const limits = {
  requests: 32,
  constraints: 32,
  configurations: 32,
  allocatedConfigurations: 64,
  alternatives: 8,
  selectors: 32,
  results: 32,
  reservedFor: 256,
  bindingConditions: 4,
  conditions: 8,
  addresses: 16,
  rawBytes: 10 * 1024,
} as const

const longestDriver = 63
const longestPool = 253
const longestIdentifier = 32
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const identifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/

export function labelName(path: FieldPath, name = ""): FieldError[] {
  return messages(path, name, validateDNS1123Label(name))
}

export function driverName(path: FieldPath, name = ""): FieldError[] {
  if (name === "") return [required(path)]
  const faults = messages(path, name, validateDNS1123Subdomain(name.toLowerCase()))
  return Buffer.byteLength(name) > longestDriver ? [tooLong(path, "", longestDriver), ...faults] : faults
}

export function poolName(path: FieldPath, name = ""): FieldError[] {
  if (name === "") return [required(path)]
  const faults = name.split("/").flatMap((part) => messages(path, part, validateDNS1123Subdomain(part)))
  return Buffer.byteLength(name) > longestPool ? [tooLong(path, "", longestPool), ...faults] : faults
}

export function className(path: FieldPath, name = ""): FieldError[] {
  return name === "" ? [required(path)] : messages(path, name, validateDNS1123Subdomain(name))
}

/** "name" or "domain/name", for attributes and capacities. */
export function qualifiedName(path: FieldPath, name: string): FieldError[] {
  const parts = name.split("/")
  if (parts.length === 1) return identifier(path, name)
  if (parts.length > 2) return [] // upstream accepts these
  const [domain = "", id = ""] = parts
  return [
    ...(domain === "" ? [invalidValue(path, "", "the domain must not be empty")] : driverName(path, domain)),
    ...(id === "" ? [invalidValue(path, "", "the name must not be empty")] : identifier(path, id)),
  ]
}

export function fullyQualifiedName(path: FieldPath, name: string): FieldError[] {
  const errors = qualifiedName(path, name)
  if (name.includes("/")) return errors
  const detail = "a fully qualified name must be a domain and a name separated by a slash"
  return [...errors, invalidValue(path, asJson(name), detail)]
}

function identifier(path: FieldPath, id: string): FieldError[] {
  const errors = Buffer.byteLength(id) > longestIdentifier ? [tooLong(path, "", longestIdentifier)] : []
  if (identifierPattern.test(id)) return errors
  const detail =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
  return [...errors, invalidValue(path, id, detail)]
}

export function shareID(path: FieldPath, uid: string): FieldError[] {
  if (uuidPattern.test(uid)) return []
  const detail =
    uuidFault(uid) ??
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"
  return [invalidValue(path, uid, detail)]
}

/** The error of github.com/google/uuid, which supports four forms with different lengths. */
function uuidFault(uid: string): string | undefined {
  const bytes = Buffer.byteLength(uid)
  const wrong = (detail: string): string => `error validating uid: ${detail}`
  const bare = /^[0-9a-f]{32}$/i
  let text = uid
  if (bytes === 45) {
    if (!uid.toLowerCase().startsWith("urn:uuid:"))
      return wrong(`invalid urn prefix: ${JSON.stringify(uid.slice(0, 9))}`)
    text = uid.slice(9)
  } else if (bytes === 38) {
    if (!uid.startsWith("{") || !uid.endsWith("}")) return wrong("invalid bracketed UUID format")
    text = uid.slice(1, -1)
  } else if (bytes === 32) return bare.test(uid) ? undefined : wrong("invalid UUID format")
  else if (bytes !== 36) return wrong(`invalid UUID length: ${bytes}`)
  return uuidPattern.test(text.toLowerCase()) ? undefined : wrong("invalid UUID format")
}

type Check<T> = (path: FieldPath, item: T) => FieldError[]

/** Beyond the limit, the items are not checked. */
export function limited<T>(
  path: FieldPath,
  items: readonly T[] = [],
  max: number,
  check: (path: FieldPath, item: T) => FieldError[],
): FieldError[] {
  if (items.length > max) return [tooMany(path, items.length, max)]
  return items.flatMap((item, index) => check(path.index(index), item))
}

/** Additionally, keys must be unique; `shown` is the value in the message. */
export function unique<T>(
  path: FieldPath,
  items: readonly T[] = [],
  max: number,
  check: Check<T>,
  keyOf: (item: T) => string,
  shown: (item: T) => unknown = keyOf,
): FieldError[] {
  const errors = limited(path, items, max, check)
  if (items.length > max) return errors
  const seen = new Set<string>()
  for (const [index, item] of items.entries()) {
    const key = keyOf(item)
    if (seen.has(key)) errors.push(duplicate(path.index(index), shown(item)))
    seen.add(key)
  }
  return errors
}

export function itself(text: string): string {
  return text
}

export function configuration(path: FieldPath, { opaque }: Configuration, isStored = false): FieldError[] {
  const at = path.child("opaque")
  if (opaque === undefined) return [required(at)]
  return [
    ...driverName(at.child("driver"), opaque.driver),
    ...rawObject(at.child("parameters"), opaque.parameters, isStored),
  ]
}

/** Stored values may be longer, since there was no limit in the past. */
export function rawObject(path: FieldPath, value: unknown, isStored = false): FieldError[] {
  if (value === undefined || value === null) return [required(path)]
  if (!isStored && Buffer.byteLength(JSON.stringify(value, printBigInt)) > limits.rawBytes) {
    return [tooLong(path, "", limits.rawBytes)]
  }
  return typeof value === "object" && !Array.isArray(value)
    ? []
    : [invalidValue(path, "<value omitted>", "must be a valid JSON object")]
}

function printBigInt(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value
}

const effects = ["NoExecute", "NoSchedule", "None"]

export function taintEffect(path: FieldPath, effect: string | undefined): FieldError[] {
  return oneOf(path, effect, effects)
}

export function toleration(path: FieldPath, { key = "", operator, value = "", effect }: Toleration): FieldError[] {
  const errors = key === "" ? [] : validateLabelName(path.child("key"), key)
  if (operator === "Exists") {
    if (value !== "") errors.push(invalidValue(path.child("value"), value, "must be empty for operator `Exists`"))
  } else if (operator === "Equal") errors.push(...messages(path.child("value"), value, validateLabelValue(value)))
  else errors.push(...oneOf(path.child("operator"), operator, ["Equal", "Exists"]))
  return [...errors, ...optionalOneOf(path.child("effect"), effect || undefined, effects)]
}

interface Binding {
  bindingConditions?: readonly string[]
  bindingFailureConditions?: readonly string[]
}

/** The conditions that a binding waits for and those that fail it: both or neither, without common values. */
export function bindingConditions(path: FieldPath, binding: Binding): FieldError[] {
  const { bindingConditions: wanted, bindingFailureConditions: failures } = binding
  const [at, failuresAt] = [path.child("bindingConditions"), path.child("bindingFailureConditions")]
  const errors = [
    ...limited(at, wanted, limits.bindingConditions, validateLabelName),
    ...limited(failuresAt, failures, limits.bindingConditions, validateLabelName),
  ]
  const [repeated, repeatedFailures] = [repeats(wanted ?? []), repeats(failures ?? [])]
  for (const [index, word] of (wanted ?? []).entries()) {
    if (repeated.has(index)) errors.push(duplicate(at.index(index), word))
  }
  const waitedFor = new Set(wanted)
  for (const [index, word] of (failures ?? []).entries()) {
    if (repeatedFailures.has(index)) errors.push(duplicate(failuresAt.index(index), word))
    if (waitedFor.has(word)) {
      const detail = "bindingFailureConditions must not overlap with bindingConditions"
      errors.push(invalidValue(failuresAt.index(index), word, detail))
    }
  }
  const has = (words: readonly string[] = []): boolean => words.length > 0
  const shown = (name: keyof Binding): unknown => binding[name] ?? (isGivenEmpty(binding, name) ? [] : undefined)
  if (!has(wanted) && has(failures)) {
    errors.push(
      invalidValue(at, shown("bindingConditions"), "bindingConditions are required to use bindingFailureConditions"),
    )
  }
  if (!has(failures) && has(wanted)) {
    const detail = "bindingFailureConditions are required to use bindingConditions"
    errors.push(invalidValue(failuresAt, shown("bindingFailureConditions"), detail))
  }
  return errors
}
