// What names, labels and metadata may look like, in upstream's words. Sources: k8s.io/apimachinery/pkg/util/validation and
// pkg/api/validation.

import { randomInt } from "node:crypto"
import { FieldPath, forbiddenField, invalidValue, required, tooLong, type FieldError } from "./field-errors.ts"
import type { ObjectMeta } from "./object.ts"

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
const subdomain = `${label}(\\.${label})*`
const label1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
const qualified = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

const labelPattern = new RegExp(`^${label}$`)
const subdomainPattern = new RegExp(`^${subdomain}$`)
const label1035Pattern = new RegExp(`^${label1035}$`)
const qualifiedPattern = new RegExp(`^${qualified}$`)
const labelValuePattern = new RegExp(`^(${qualified})?$`)

const maxLabel = 63
const maxSubdomain = 253
/** Sum of keys and values of annotations. */
const maxAnnotationBytes = 256 * 1024

const tooManyCharacters = (max: number): string => `must be no more than ${max} characters`
/** What labels, and the newer declarative rules, say. */
const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`
/** The stray comma before "or" is upstream's. */
const regexMessage = (what: string, pattern: string, ...examples: string[]): string =>
  `${what} (e.g. ${examples.map((example) => `'${example}', `).join(" or ")}regex used for validation is '${pattern}')`

export type NameRule = (name: string, isPrefix?: boolean) => string[]

/** A trailing dash is fine in a generateName: the suffix follows. */
const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name

export function validateDNS1123Label(name: string, isPrefix = false): string[] {
  const text = isPrefix ? maskTrailingDash(name) : name
  const faults = text.length > maxLabel ? [tooManyCharacters(maxLabel)] : []
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
  const faults = text.length > maxSubdomain ? [tooManyCharacters(maxSubdomain)] : []
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

export function validateDNS1035Label(name: string, isPrefix = false): string[] {
  const text = isPrefix ? maskTrailingDash(name) : name
  const faults = text.length > maxLabel ? [tooManyCharacters(maxLabel)] : []
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

/** Names that become one segment of a URL (roles, bindings). */
export function validatePathSegmentName(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`]
  return ["/", "%"].filter((character) => name.includes(character)).map((character) => `may not contain '${character}'`)
}

/** A DNS-1123 subdomain, in the words of the declarative rules. */
export function validateLongName(name: string): string[] {
  return validateDNS1123Subdomain(name).map((fault) =>
    fault === tooManyCharacters(maxSubdomain) ? tooManyBytes(maxSubdomain) : fault,
  )
}

/** "name" or "prefix/name", of labels and annotations. */
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
  else if (name.length > maxLabel) faults.push(`name part ${tooManyBytes(maxLabel)}`)
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
  const faults = value.length > maxLabel ? [tooManyBytes(maxLabel)] : []
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

/** No vowels and no 0, 1, 3: nothing that reads as a word. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
const suffixLength = 5
const maxGeneratedLength = 63

/** The prefix, cut so that the name fits, and five random characters. */
export function generateName(prefix: string): string {
  let name = prefix.slice(0, maxGeneratedLength - suffixLength)
  for (let i = 0; i < suffixLength; i++) name += suffixAlphabet[randomInt(suffixAlphabet.length)] ?? ""
  return name
}

export function validateLabels(labels: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...validateQualifiedName(key).map((fault) => invalidValue(path, key, fault)),
    ...validateLabelValue(value).map((fault) => invalidValue(path, value, fault)),
  ])
}

export function validateAnnotations(annotations: Record<string, string> | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Upper case is accepted in annotation keys for old objects' sake.
    errors.push(...validateQualifiedName(key.toLowerCase()).map((fault) => invalidValue(path, key, fault)))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (bytes > maxAnnotationBytes) errors.push(tooLong(path, "", maxAnnotationBytes))
  return errors
}

export interface ObjectMetaRules {
  namespaced: boolean
  nameRule: NameRule
  path?: FieldPath
  /** Built-in kinds know finalizers without a domain; custom resources (false) accept any qualified name. */
  standardFinalizers?: boolean
}

export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, nameRule, path = FieldPath.root("metadata"), standardFinalizers: known = true }: ObjectMetaRules,
): FieldError[] {
  const errors: FieldError[] = []
  const { name = "", generateName: prefix = "", namespace = "" } = meta
  if (prefix !== "") {
    errors.push(...nameRule(prefix, true).map((fault) => invalidValue(path.child("generateName"), prefix, fault)))
  }
  if (name === "") errors.push(required(path.child("name"), "name or generateName is required"))
  else errors.push(...nameRule(name).map((fault) => invalidValue(path.child("name"), name, fault)))
  if (namespaced) {
    if (namespace === "") errors.push(required(path.child("namespace")))
    else
      errors.push(
        ...validateDNS1123Label(namespace).map((fault) => invalidValue(path.child("namespace"), namespace, fault)),
      )
  } else if (namespace !== "") {
    errors.push(forbiddenField(path.child("namespace"), "not allowed on this type"))
  }
  const { generation = 0 } = meta
  if (generation < 0) {
    errors.push(invalidValue(path.child("generation"), generation, "must be greater than or equal to 0"))
  }
  return [
    ...errors,
    ...validateMutableMeta(meta, path),
    ...validateFinalizers(meta.finalizers, path.child("finalizers")),
    ...(known ? validateStandardFinalizers(meta.finalizers, path.child("finalizers")) : []),
  ]
}

function validateMutableMeta(meta: ObjectMeta, path: FieldPath): FieldError[] {
  return [
    ...validateLabels(meta.labels, path.child("labels")),
    ...validateAnnotations(meta.annotations, path.child("annotations")),
    ...validateOwnerReferences(meta, path.child("ownerReferences")),
  ]
}

function validateOwnerReferences(meta: ObjectMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const owner of meta.ownerReferences ?? []) {
    // Upstream reports the list's path, without an index.
    if (!owner.apiVersion)
      errors.push(invalidValue(path.child("apiVersion"), owner.apiVersion ?? "", "version must not be empty"))
    if (!owner.kind) errors.push(invalidValue(path.child("kind"), owner.kind ?? "", "must not be empty"))
    if (!owner.name) errors.push(invalidValue(path.child("name"), owner.name ?? "", "must not be empty"))
    if (!owner.uid) errors.push(invalidValue(path.child("uid"), owner.uid ?? "", "must not be empty"))
    if (owner.apiVersion === "v1" && owner.kind === "Event")
      errors.push(invalidValue(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
    if (owner.controller !== true) continue
    const printed = `${owner.kind}/${owner.name}`
    if (controller !== undefined) {
      errors.push(
        invalidValue(
          path,
          meta.ownerReferences,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${printed}`,
        ),
      )
    } else controller = printed
  }
  return errors
}

const standardFinalizers = new Set(["kubernetes", "orphan", "foregroundDeletion"])

function validateFinalizers(finalizers: string[] | undefined, path: FieldPath): FieldError[] {
  const errors = (finalizers ?? []).flatMap((finalizer) =>
    validateQualifiedName(finalizer).map((fault) => invalidValue(path, finalizer, fault)),
  )
  if (finalizers?.includes("orphan") === true && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"))
  }
  return errors
}

function validateStandardFinalizers(finalizers: string[] | undefined, path: FieldPath): FieldError[] {
  const detail = "name is neither a standard finalizer name nor is it fully qualified"
  return (finalizers ?? []).flatMap((finalizer, index) =>
    finalizer.includes("/") || standardFinalizers.has(finalizer)
      ? []
      : [invalidValue(path.index(index), finalizer, detail)],
  )
}

const immutableMeta = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const

/** What an update may not change of metadata, after the server has put back what it owns. */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  current: ObjectMeta,
  path: FieldPath = FieldPath.root("metadata"),
  { standardFinalizers: known = true }: Pick<ObjectMetaRules, "standardFinalizers"> = {},
): FieldError[] {
  const errors: FieldError[] = []
  if (current.deletionTimestamp !== undefined) {
    const present = new Set(current.finalizers)
    const added = [...new Set(meta.finalizers)].filter((finalizer) => !present.has(finalizer)).sort()
    if (added.length > 0) {
      const printed = `[]string{${added.map((text) => JSON.stringify(text)).join(", ")}}`
      const detail = "no new finalizers can be added if the object is being deleted, found new finalizers"
      errors.push(forbiddenField(path.child("finalizers"), `${detail} ${printed}`))
    }
  }
  for (const field of immutableMeta) {
    if (meta[field] !== current[field]) errors.push(invalidValue(path.child(field), meta[field], "field is immutable"))
  }
  return [
    ...errors,
    ...validateMutableMeta(meta, path),
    ...(known ? validateStandardFinalizers(meta.finalizers, path.child("finalizers")) : []),
  ]
}
