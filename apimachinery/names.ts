// Rules for names, label values and qualified names, with upstream's messages; used by object-meta.ts. Source:
// k8s.io/apimachinery/pkg/util/validation.

import { randomInt } from "node:crypto"

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
const subdomain = `${label}(\\.${label})*`
const underscoredLabel = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
const underscored = `${underscoredLabel}(\\.${underscoredLabel})*`
const label1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

const labelPattern = new RegExp(`^${label}$`)
const subdomainPattern = new RegExp(`^${subdomain}$`)
const underscoredPattern = new RegExp(`^${underscored}$`)
const label1035Pattern = new RegExp(`^${label1035}$`)
const qualifiedPattern = new RegExp(`^${qualified}$`)
const labelValuePattern = new RegExp(`^(${qualified})?$`)

const maxLabel = 63
const maxSubdomain = 253

const tooManyCharacters = (max: number): string => `must be no more than ${max} characters`
/** The message for labels, and of the newer declarative validation. */
const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`
/** The stray comma before "or" is upstream's. */
const regexMessage = (what: string, pattern: string, ...examples: string[]): string =>
  `${what} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`

export type NameRule = (name: string, isPrefix?: boolean) => string[]

/** A trailing dash is valid in a generateName, since a suffix follows. */
const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name

export function validateDNS1123Label(name: string, isPrefix = false): string[] {
  const text = isPrefix ? maskTrailingDash(name) : name
  const faults = Buffer.byteLength(text) > maxLabel ? [tooManyCharacters(maxLabel)] : []
  if (!labelPattern.test(text)) {
    if (subdomainPattern.test(text)) return [...faults, "must not contain dots"]
    faults.push(
      regexMessage(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        label,
        "my-name",
        "123-abc",
      ),
    )
  }
  return faults
}

export function validateDNS1123Subdomain(name: string, isPrefix = false): string[] {
  const text = isPrefix ? maskTrailingDash(name) : name
  const faults = Buffer.byteLength(text) > maxSubdomain ? [tooManyCharacters(maxSubdomain)] : []
  if (!subdomainPattern.test(text)) {
    faults.push(
      regexMessage(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain,
        "example.com",
      ),
    )
  }
  return faults
}

/** A subdomain below which any label is meant: "*.example.com". */
export function validateWildcardSubdomain(name: string): string[] {
  const faults = Buffer.byteLength(name) > maxSubdomain ? [tooManyCharacters(maxSubdomain)] : []
  if (!name.startsWith("*.") || !subdomainPattern.test(name.slice("*.".length))) {
    faults.push(
      regexMessage(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        `\\*\\.${subdomain}`,
        "*.example.com",
      ),
    )
  }
  return faults
}

export function validateDNS1035Label(name: string, isPrefix = false): string[] {
  const text = isPrefix ? maskTrailingDash(name) : name
  const faults = Buffer.byteLength(text) > maxLabel ? [tooManyCharacters(maxLabel)] : []
  if (!label1035Pattern.test(text)) {
    faults.push(
      regexMessage(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        "my-name",
        "abc-123",
      ),
    )
  }
  return faults
}

/** Like a subdomain, but with underscores, which DNS itself allows. */
export function validateDNS1123SubdomainWithUnderscore(name: string): string[] {
  const faults = Buffer.byteLength(name) > maxSubdomain ? [tooManyCharacters(maxSubdomain)] : []
  if (!underscoredPattern.test(name)) {
    faults.push(
      regexMessage(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        underscored,
        "example.com",
      ),
    )
  }
  return faults
}

/** Names that become one segment of a URL (roles, bindings). */
export function validatePathSegmentName(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`]
  return ["/", "%"].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}

/** A DNS-1123 subdomain, with the messages of declarative validation. */
export function validateLongName(name: string): string[] {
  return validateDNS1123Subdomain(name).map((fault) =>
    fault === tooManyCharacters(maxSubdomain) ? tooManyBytes(maxSubdomain) : fault,
  )
}

/** "name" or "prefix/name", for labels and annotations. */
export function validateQualifiedName(text: string): string[] {
  const faults: string[] = []
  const parts = text.split("/")
  const name = parts.at(-1) ?? ""
  const what = "a valid label key"
  if (parts.length > 2) {
    return [
      `${regexMessage(
        `${what} must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        qualified,
        "MyName",
        "my.name",
        "123-abc",
      )} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  if (parts.length === 2) {
    const prefix = parts[0] ?? ""
    if (prefix === "") faults.push("prefix part must be non-empty")
    else faults.push(...validateLongName(prefix).map((fault) => `prefix part ${fault}`))
  }
  if (name === "") faults.push("name part must be non-empty")
  else if (Buffer.byteLength(name) > maxLabel) faults.push(`name part ${tooManyBytes(maxLabel)}`)
  if (!qualifiedPattern.test(name)) {
    faults.push(
      `name part ${regexMessage(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        qualified,
        "MyName",
        "my.name",
        "123-abc",
      )}`,
    )
  }
  return faults
}

export function validateLabelValue(value: string): string[] {
  const faults = Buffer.byteLength(value) > maxLabel ? [tooManyBytes(maxLabel)] : []
  if (!labelValuePattern.test(value)) {
    faults.push(
      regexMessage(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${qualified})?`,
        "MyValue",
        "my_value",
        "12345",
      ),
    )
  }
  return faults
}

/** Without vowels and 0, 1, 3, so that suffixes do not form words. Source: k8s.io/apimachinery/pkg/util/rand. */
export const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
const suffixLength = 5
const maxGeneratedLength = 63

/** The prefix, truncated to the maximum length in bytes, and five random characters. */
export function generateName(prefix: string): string {
  let name = startOf(prefix, maxGeneratedLength - suffixLength)
  for (let i = 0; i < suffixLength; i++) name += suffixAlphabet[randomInt(suffixAlphabet.length)] ?? ""
  return name
}

/** As many whole characters as have at most so many bytes. */
function startOf(text: string, most: number): string {
  return Buffer.byteLength(text) <= most
    ? text
    : text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(most)).read)
}
