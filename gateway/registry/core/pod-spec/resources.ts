// Resource names and quantities of containers and pods. Source: k8s.io/kubernetes/pkg/apis/core/{helper,validation}.

import { ownValue } from "../../../../apimachinery/schema/json-object.ts"
import {
  FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  duplicate,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { validateDNS1123Label, validateQualifiedName } from "../../../../apimachinery/names.ts"
import { isWholeInt64 } from "../../../../apimachinery/quantity-integers.ts"
import { compareQuantities, isQuantity, parseQuantity, unitValue } from "../../../../apimachinery/quantity.ts"
import { messages, negative } from "../../validation/values.ts"
import type { ResourceList, ResourceRequirements } from "./types.ts"

const computeNames = ["cpu", "memory", "ephemeral-storage"]
const quotaNames = [
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
]
const objectCounts = [
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]
const standardNames = new Set([...computeNames, "storage", ...quotaNames, ...objectCounts])
const integerNames = new Set(objectCounts)
const quotaOnlyPrefix = "requests."
const podLevelNames = ["cpu", "memory"]

export function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-")
}

/** Resources without a domain, or in kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || isPrefixedNative(name)
}

function isPrefixedNative(name: string): boolean {
  return name.includes("kubernetes.io/")
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(quotaOnlyPrefix)) return false
  return validateQualifiedName(quotaOnlyPrefix + name).length === 0
}

/** Requests may be lower than limits for resources that can be overcommitted: native resources except huge pages. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name)
}

function isIntegerResource(name: string): boolean {
  return integerNames.has(name) || isExtendedResource(name)
}

export function isStandardResource(name: string): boolean {
  return standardNames.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-")
}

export function validateResourceName(path: FieldPath, name: string): FieldError[] {
  const errors = messages(path, name, validateQualifiedName(name))
  if (errors.length === 0 && !name.includes("/") && !isStandardResource(name)) {
    errors.push(invalidValue(path, name, "must be a standard resource type or fully qualified"))
  }
  return errors
}

export function validateContainerResourceName(path: FieldPath, name: string): FieldError[] {
  const errors = validateResourceName(path, name)
  if (!name.includes("/")) {
    if (!computeNames.includes(name) && !isHugePages(name)) {
      errors.push(invalidValue(path, name, "must be a standard resource for containers"))
    }
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalidValue(path, name, "doesn't follow extended resource name standard"))
  }
  return errors
}

function validatePodResourceName(path: FieldPath, name: string): FieldError[] {
  const errors = validateResourceName(path, name)
  if (errors.length > 0 || podLevelNames.includes(name) || isHugePages(name)) return errors
  return [notSupported(path, name, ["cpu", "hugepages-", "memory"])]
}

/** Not negative, and an integer for resources that cannot be divided. */
export function validateAmount(path: FieldPath, name: string, text: string): FieldError[] {
  const errors: FieldError[] = []
  const quantity = parseQuantity(text)
  if (compareQuantities(quantity, parseQuantity("0")) < 0) errors.push(invalidValue(path, text, negative))
  if (isIntegerResource(name) && !isWholeInt64(text)) {
    errors.push(invalidValue(path, text, "must be an integer"))
  }
  return errors
}

/** Names of the claims of a pod. All errors of its containers share one text of them, which may be as long as the pod. */
export class ClaimNames {
  readonly #names: ReadonlySet<string>
  #choice: string | undefined

  constructor(claims: readonly { name: string }[] = []) {
    this.#names = new Set(claims.map(({ name }) => name))
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** The detail of an error of a name that is none of them. */
  choice(): string {
    return (this.#choice ??= `must be one of the names in pod.spec.resourceClaims${this.#told()}`)
  }

  #told(): string {
    return this.#names.size === 0 ? " which is empty" : `: ${[...this.#names].toSorted().join(", ")}`
  }
}

/** For a container or, with `level` "pod", for the pod as a whole. */
export function validateRequirements(
  path: FieldPath,
  resources: ResourceRequirements | undefined,
  claimNames: ClaimNames,
  level: "container" | "pod" = "container",
): FieldError[] {
  if (resources === undefined) return []
  const nameRule = level === "pod" ? validatePodResourceName : validateContainerResourceName
  const limits = resources.limits ?? {}
  const requests = resources.requests ?? {}
  const errors: FieldError[] = []
  for (const [name, amount] of inOrder(limits)) {
    const at = path.child("limits").key(name)
    errors.push(...nameRule(at, name), ...validateAmount(at, name, amount), ...wholePages(at, name, amount))
  }
  for (const [name, amount] of inOrder(requests)) {
    const at = path.child("requests").key(name)
    errors.push(...nameRule(at, name), ...validateAmount(at, name, amount))
    errors.push(...againstLimit(path, name, amount, ownValue(limits, name)), ...wholePages(at, name, amount))
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    errors.push(forbiddenField(path, "HugePages require cpu or memory"))
  }
  return [...errors, ...validateClaims(path.child("claims"), resources.claims ?? [], claimNames)]
}

function wholePages(at: FieldPath, name: string, amount: string): FieldError[] {
  const size = name.slice("hugepages-".length)
  if (!isHugePages(name) || !isQuantity(size)) return []
  const [page, asked] = [unitValue(parseQuantity(size)), unitValue(parseQuantity(amount))]
  return page > 0 && asked % page === 0
    ? []
    : [invalidValue(at, amount, `${amount} is not positive integer multiple of ${name}`)]
}

function againstLimit(path: FieldPath, name: string, amount: string, limit: string | undefined): FieldError[] {
  const at = path.child("requests")
  if (limit === undefined) {
    return isOvercommitAllowed(name)
      ? []
      : [required(path.child("limits"), "Limit must be set for non overcommitable resources")]
  }
  const order = compareQuantities(parseQuantity(amount), parseQuantity(limit))
  if (order !== 0 && !isOvercommitAllowed(name)) {
    return [invalidValue(at, amount, `must be equal to ${name} limit of ${limit}`)]
  }
  return order > 0 ? [invalidValue(at, amount, `must be less than or equal to ${name} limit of ${limit}`)] : []
}

function validateClaims(
  path: FieldPath,
  claims: readonly { name: string; request?: string }[],
  known: ClaimNames,
): FieldError[] {
  const seen = new Set<string>()
  /** By the name of a claim, how many of its requests have been seen. */
  const requests = new Map<string, number>()
  return claims.flatMap(({ name, request = "" }, index) => {
    const at = path.index(index)
    if (!name) return [required(at)]
    const errors: FieldError[] = []
    // A claim without a request name includes all requests of the claim.
    if (seen.has(name)) errors.push(duplicate(at, name))
    else {
      const key = request === "" ? name : `${name}/${request}`
      if (request !== "") errors.push(...messages(at.child("request"), request, validateDNS1123Label(request)))
      if (seen.has(key)) errors.push(duplicate(at, key))
      else {
        const others = request === "" ? (requests.get(name) ?? 0) : 0
        for (let count = 0; count < others; count++) errors.push(duplicate(at, name))
        seen.add(key)
        const slash = key.indexOf("/")
        const claim = key.slice(0, slash)
        if (slash >= 0) requests.set(claim, (requests.get(claim) ?? 0) + 1)
      }
    }
    if (!known.has(name)) errors.push(new FieldError("FieldValueNotFound", at, name, known.choice()))
    return errors
  })
}

/** Sorted by name, so that the errors of an object are deterministic. */
function inOrder(list: ResourceList): [string, string][] {
  return Object.entries(list)
    .map(([name, amount]): [string, string] => [name, String(amount)])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}
