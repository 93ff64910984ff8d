// Validates single values of many kinds, with upstream's messages. Source: k8s.io/apimachinery/pkg/util/validation and
// pkg/apis/core/validation. Missing values are accepted where the wire format allows them; otherwise use `requiredValue`.

import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../apimachinery/names.ts"

export const negative = "must be greater than or equal to 0"
export const notPositive = "must be greater than zero"
export const immutable = "field is immutable"
export const maxInt32 = 2_147_483_647
const longestDriverName = 63

export function inclusiveRange(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`
}

/** The errors of a name rule as errors of the field. */
export function messages(path: FieldPath, value: unknown, texts: readonly string[]): FieldError[] {
  return texts.map((text) => invalidValue(path, value, text))
}

/** The same as a single error, as in upstream's definitions. */
export function together(path: FieldPath, value: unknown, texts: readonly string[]): FieldError[] {
  return texts.length === 0 ? [] : [invalidValue(path, value, texts.join(","))]
}

export function requiredValue(path: FieldPath, value: string | undefined): FieldError[] {
  return value === undefined || value === "" ? [required(path)] : []
}

/** A required name that must satisfy the rule. */
export function named(
  path: FieldPath,
  value: string | undefined,
  rule: (name: string) => readonly string[],
): FieldError[] {
  return value === undefined || value === "" ? [required(path)] : messages(path, value, rule(value))
}

/** For example "acme.io/foo". */
export function domainPrefixedPath(path: FieldPath, value: string): FieldError[] {
  if (value === "") return [required(path)]
  const slash = value.indexOf("/")
  const [host, tail] = [value.slice(0, Math.max(slash, 0)), value.slice(slash + 1)]
  if (host === "" || tail === "") {
    return [invalidValue(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  }
  const errors = messages(path, host, validateDNS1123Subdomain(host))
  if (/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(tail)) return errors
  const detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"
  return [...errors, invalidValue(path, tail, detail)]
}

/** The name of a CSI driver. */
export function csiDriverName(path: FieldPath, name = ""): FieldError[] {
  if (name === "") return [required(path)]
  return [
    ...(Buffer.byteLength(name) > longestDriverName ? [tooLong(path, name, longestDriverName)] : []),
    ...messages(path, name, validateDNS1123Subdomain(name.toLowerCase())),
  ]
}

export function nonNegative(path: FieldPath, value: number | undefined): FieldError[] {
  return value !== undefined && value < 0 ? [invalidValue(path, value, negative)] : []
}

export function positive(path: FieldPath, value: number | undefined): FieldError[] {
  return value !== undefined && value <= 0 ? [invalidValue(path, value, notPositive)] : []
}

export function within(path: FieldPath, value: number | undefined, low: number, high: number): FieldError[] {
  return value !== undefined && (value < low || value > high)
    ? [invalidValue(path, value, inclusiveRange(low, high))]
    : []
}

/** A required value that must be one of the supported ones. */
export function oneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): FieldError[] {
  if (value === undefined || value === "") return [required(path)]
  return optionalOneOf(path, value, supported)
}

/** An optional value that must be one of the supported ones; "" is not supported. */
export function optionalOneOf(path: FieldPath, value: string | undefined, supported: readonly string[]): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)]
}

export function portNumber(path: FieldPath, value: number): FieldError[] {
  return within(path, value, 1, 65_535)
}

export function portNameRule(name: string): string[] {
  const texts: string[] = []
  if (Buffer.byteLength(name) > 15) texts.push("must be no more than 15 characters")
  if (!/^[-a-z0-9]+$/.test(name)) {
    texts.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
  }
  if (!/[a-z]/.test(name)) texts.push("must contain at least one letter (a-z)")
  if (name.includes("--")) texts.push("must not contain consecutive hyphens")
  if (name.startsWith("-") || name.endsWith("-")) texts.push("must not begin or end with a hyphen")
  return texts
}

/** An intOrString for a port. A missing value is 0, as Go's zero value. */
export function portNumberOrName(path: FieldPath, value: unknown): FieldError[] {
  if (typeof value === "string") return messages(path, value, portNameRule(value))
  return portNumber(path, typeof value === "number" ? value : 0)
}

const noFaults: readonly string[] = []
const configKey = /^[-._a-zA-Z0-9]+$/

/** Keys of ConfigMaps and Secrets. */
export function configKeyRule(key: string): readonly string[] {
  if (key.length <= 253 && key[0] !== "." && configKey.test(key)) return noFaults
  const texts: string[] = []
  if (Buffer.byteLength(key) > 253) texts.push("must be no more than 253 characters")
  if (!configKey.test(key)) {
    texts.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    )
  }
  if (key === ".") texts.push("must not be '.'")
  else if (key === "..") texts.push("must not be '..'")
  else if (key.startsWith("..")) texts.push("must not start with '..'")
  return texts
}

/** Names of environment variables may contain any printable ASCII character except "=". */
export function environmentNameRule(name: string): string[] {
  if (name === "") return ["environment variable name must be non-empty"]
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

export function percentRule(text: string): string[] {
  return /^[0-9]+%$/.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ]
}
