// The requests of a claim, the constraints between their devices, and the configuration of these. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation (validateDeviceClaim).

import {
  type FieldError,
  type FieldPath,
  invalidValue,
  notSupported,
  required,
} from "../../../apimachinery/field-errors.ts"
import type { SelectorErrors } from "../../../apimachinery/cel/devices.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import { notPositive } from "../validation/values.ts"
import { compilingAll, expressionsOf, validateSelectors } from "./selectors.ts"
import type { ClaimSpec, Constraint, DeviceRequest, NamedRequest } from "./types.ts"
import {
  className,
  configuration,
  fullyQualifiedName,
  itself,
  labelName,
  limited,
  limits,
  toleration,
  unique,
} from "./values.ts"

/** A step compiles one selector. */
export function* validatingClaimSpec(path: FieldPath, { devices = {} }: ClaimSpec): Steps<FieldError[]> {
  const at = path.child("devices")
  const names = requestNames(devices)
  const requests = devices.requests ?? []
  const compiled = yield* compilingAll(selectorsOfAll(devices))
  const check = (place: FieldPath, request: NamedRequest): FieldError[] => validateRequest(place, request, compiled)
  return [
    ...unique(at.child("requests"), requests, limits.requests, check, ({ name = "" }) => name),
    ...limited(at.child("constraints"), devices.constraints, limits.constraints, (place, constraint) =>
      validateConstraint(place, constraint, names),
    ),
    ...limited(at.child("config"), devices.config, limits.configurations, (place, config) => [
      ...references(place.child("requests"), config.requests, names),
      ...configuration(place, config),
    ]),
  ]
}

/** What expressionsSizeErrors() counts: those that are equal are compiled once. */
export function distinctExpressions({ devices = {} }: ClaimSpec = {}): { expression: string }[] {
  return Array.from(expressionsOf(selectorsOfAll(devices)), (expression) => ({ expression }))
}

/** Those that are compiled. */
function selectorsOfAll({ requests }: NonNullable<ClaimSpec["devices"]>): DeviceRequest["selectors"][] {
  const given = requests ?? []
  return given.length > limits.requests ? [] : given.flatMap(selectorsOf)
}

function selectorsOf({ exactly, firstAvailable = [] }: NamedRequest): DeviceRequest["selectors"][] {
  if (exactly !== undefined) return [exactly.selectors]
  return firstAvailable.length > limits.alternatives ? [] : firstAvailable.map(({ selectors }) => selectors)
}

export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>

/** The requests of a claim, and the subrequests of each. */
export function requestNames({ requests }: NonNullable<ClaimSpec["devices"]> = {}): RequestNames {
  return new Map(
    (requests ?? []).map(({ name = "", firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map(({ name: alternative = "" }) => alternative)),
    ]),
  )
}

export function references(
  path: FieldPath,
  requests: readonly string[] | undefined,
  names: RequestNames,
): FieldError[] {
  return unique(path, requests, limits.requests, (at, name) => reference(at, name, names), itself)
}

export function reference(path: FieldPath, name = "", names: RequestNames): FieldError[] {
  const parts = name.split("/")
  const [request = "", alternative] = parts
  const alternatives = names.get(request)
  const isThere = alternatives !== undefined && (alternative === undefined || alternatives.has(alternative))
  const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
  if (parts.length > 2) return [invalidValue(path, name, detail)]
  const errors = parts.flatMap((part) => labelName(path, part))
  return isThere ? errors : [...errors, invalidValue(path, name, detail)]
}

function validateRequest(
  path: FieldPath,
  { name, exactly, firstAvailable = [] }: NamedRequest,
  compiled: SelectorErrors,
): FieldError[] {
  const errors = labelName(path.child("name"), name)
  const oneIsRequired = "exactly one of `exactly` or `firstAvailable` is required"
  if (exactly === undefined && firstAvailable.length === 0) return [...errors, required(path, oneIsRequired)]
  if (exactly === undefined)
    return [...errors, ...validateAlternatives(path.child("firstAvailable"), firstAvailable, compiled)]
  return firstAvailable.length > 0
    ? [...errors, invalidValue(path, null, `${oneIsRequired}, but multiple fields are set`)]
    : [...errors, ...validateDevices(path.child("exactly"), exactly, compiled)]
}

function validateAlternatives(
  path: FieldPath,
  alternatives: NonNullable<NamedRequest["firstAvailable"]>,
  compiled: SelectorErrors,
): FieldError[] {
  const check = (at: FieldPath, request: DeviceRequest & { name?: string }): FieldError[] => [
    ...labelName(at.child("name"), request.name),
    ...validateDevices(at, request, compiled),
  ]
  return unique(path, alternatives, limits.alternatives, check, ({ name = "" }) => name)
}

function validateDevices(path: FieldPath, request: DeviceRequest, compiled: SelectorErrors): FieldError[] {
  return [
    ...className(path.child("deviceClassName"), request.deviceClassName),
    ...validateSelectors(path.child("selectors"), request.selectors, compiled),
    ...validateCount(path, request),
    ...(request.tolerations ?? []).flatMap((one, index) => toleration(path.child("tolerations").index(index), one)),
  ]
}

function validateCount(path: FieldPath, { allocationMode: mode = "", count = 0 }: DeviceRequest): FieldError[] {
  const at = path.child("count")
  if (mode === "All") {
    return count === 0 ? [] : [invalidValue(at, count, "must not be specified when allocationMode is 'All'")]
  }
  if (mode === "ExactCount") return count > 0 ? [] : [invalidValue(at, count, notPositive)]
  return [notSupported(path.child("allocationMode"), mode, ["All", "ExactCount"])]
}

function validateConstraint(path: FieldPath, constraint: Constraint, names: RequestNames): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint
  const errors = references(path.child("requests"), requests, names)
  if (matchAttribute !== undefined) {
    return [...errors, ...fullyQualifiedName(path.child("matchAttribute"), matchAttribute)]
  }
  if (distinctAttribute !== undefined) {
    return [...errors, ...fullyQualifiedName(path.child("distinctAttribute"), distinctAttribute)]
  }
  const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
  return [...errors, required(path, detail)]
}

/** The default count is one. */
export function defaultCounts({ devices }: ClaimSpec): void {
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    for (const request of [...(exactly === undefined ? [] : [exactly]), ...firstAvailable]) {
      request.allocationMode = request.allocationMode || "ExactCount"
      if (request.allocationMode === "ExactCount") request.count = request.count || 1
    }
  }
}

/** As after Go's conversions, an empty list is null. */
export function withoutEmptyList({ devices }: ClaimSpec): void {
  if (devices?.requests?.length === 0) devices.requests = null
}
