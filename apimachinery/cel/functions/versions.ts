// semver(). Source: k8s.io/apiserver/pkg/cel/library/semverlib.go; error messages are those of github.com/blang/semver.

import { goQuote } from "../../go/quote.ts"
import { dictionary } from "../../dictionary.ts"
import { uint64 } from "../../schema/exact-integers.ts"
import { CelError, OpaqueValue, type Value, type Implementation } from "../values.ts"

class VersionFault extends Error {}

class SemanticVersion extends OpaqueValue {
  readonly typeName = "kubernetes.Semver"
  override readonly goType = "semver.Version"
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly preRelease: readonly string[]
  readonly text: string

  constructor(text: string, numbers: readonly [bigint, bigint, bigint], preRelease: readonly string[]) {
    super()
    this.text = text
    this.numbers = numbers
    this.preRelease = preRelease
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemanticVersion && compare(this, other) === 0
  }

  override toString(): string {
    return this.text
  }
}

const names = ["Major", "Minor", "Patch"] as const

function parse(text: string): SemanticVersion {
  if (text === "") throw new VersionFault("Version string empty")
  const parts = text.split(".")
  if (parts.length < 3) throw new VersionFault("No Major.Minor.Patch elements found")
  const [major, minor] = [number(parts[0] ?? "", "Major"), number(parts[1] ?? "", "Minor")]
  const [, patchText = "", pre, build] = /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(parts.slice(2).join(".")) ?? []
  const patch = number(patchText, "Patch")
  const preRelease = pre?.split(".") ?? []
  for (const part of preRelease) checkPreRelease(part)
  for (const part of build?.split(".") ?? []) {
    if (part === "") throw new VersionFault("Build meta data is empty")
    if (!/^[0-9A-Za-z-]+$/.test(part))
      throw new VersionFault(`Invalid character(s) found in build meta data ${goQuote(part)}`)
  }
  return new SemanticVersion(text, [major, minor, patch], preRelease)
}

function number(text: string, name: (typeof names)[number]): bigint {
  if (!/^\d*$/.test(text))
    throw new VersionFault(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(text)}`)
  if (text.length > 1 && text.startsWith("0"))
    throw new VersionFault(`${name} number must not contain leading zeroes ${goQuote(text)}`)
  if (text === "" || text.length > 20 || BigInt(text) > uint64.max) {
    const what = text === "" ? "invalid syntax" : "value out of range"
    throw new VersionFault(`strconv.ParseUint: parsing ${goQuote(text)}: ${what}`)
  }
  return BigInt(text)
}

function checkPreRelease(part: string): void {
  if (part === "") throw new VersionFault("Prerelease is empty")
  if (/^\d+$/.test(part) && part.length > 1 && part.startsWith("0")) {
    throw new VersionFault(`Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`)
  }
  if (!/^[0-9A-Za-z-]+$/.test(part)) throw new VersionFault(`Invalid character(s) found in prerelease ${goQuote(part)}`)
}

/** v1.2 → 1.2.0, 01.2.3 → 1.2.3. */
function normalize(text: string): string {
  const [first = "", second, ...rest] = text.replace(/^v/, "").split(".")
  const parts = [first, ...(second === undefined ? [] : [second]), ...(rest.length > 0 ? [rest.join(".")] : [])]
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) {
    throw new VersionFault("short version cannot contain PreRelease/Build meta data")
  }
  const plain = parts.map((part) => (part.length > 1 ? part.replace(/^0+/, "").replace(/^(?!\d)/, "0") : part))
  while (plain.length < 3) plain.push("0")
  return plain.join(".")
}

function compare(a: SemanticVersion, b: SemanticVersion): -1 | 0 | 1 {
  for (const [index, value] of a.numbers.entries()) {
    const other = b.numbers[index] ?? 0n
    if (value !== other) return value < other ? -1 : 1
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) {
    return a.preRelease.length === b.preRelease.length ? 0 : a.preRelease.length === 0 ? 1 : -1
  }
  for (let index = 0; ; index++) {
    const [part, other] = [a.preRelease[index], b.preRelease[index]]
    if (part === undefined || other === undefined) return part === other ? 0 : part === undefined ? -1 : 1
    const [isNumber, isOtherNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)]
    if (part === other) continue
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
    return (isNumber ? BigInt(part) < BigInt(other) : part < other) ? -1 : 1
  }
}

function attempt(text: string, lenient: boolean): Value {
  try {
    return parse(lenient ? normalize(text) : text)
  } catch (error) {
    if (error instanceof VersionFault) return new CelError(error.message)
    throw error
  }
}

function ofText(make: (value: Value) => Value): Implementation {
  return ([text, lenient]) => {
    if (typeof text !== "string" || (lenient !== undefined && typeof lenient !== "boolean")) return undefined
    return make(attempt(text, lenient === true))
  }
}

function part(index: 0 | 1 | 2): Implementation {
  return ([version]) => (version instanceof SemanticVersion ? version.numbers[index] : undefined)
}

/** Undefined if these are not versions: quantities have comparison functions with the same names. */
export function compareVersions([a, b]: readonly Value[]): -1 | 0 | 1 | undefined {
  return a instanceof SemanticVersion && b instanceof SemanticVersion ? compare(a, b) : undefined
}

export const versionFunctions: Readonly<Record<string, Implementation>> = dictionary({
  isSemver: ofText((value) => !(value instanceof CelError)),
  major: part(0),
  minor: part(1),
  patch: part(2),
  semver: ofText((value) => value),
})
