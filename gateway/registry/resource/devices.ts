// One device of a slice: its attributes, its capacity, and how it can be requested. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation (validateDevice).

import {
  type FieldError,
  type FieldPath,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain, validateLabelValue } from "../../../apimachinery/names.ts"
import { validateNodeSelector } from "../core/pod-spec/scheduling.ts"
import { semanticEqual } from "../validation/equality.ts"
import { validateLabelName } from "../validation/selectors.ts"
import { messages } from "../validation/values.ts"
import { validateRequestPolicy } from "./request-policy.ts"
import type { Attribute, Capacity, Device } from "./types.ts"
import { bindingConditions, labelName, limited, qualifiedName, taintEffect, unique } from "./values.ts"

const mostAttributesAndCapacities = 32
const mostAttributeValues = 48
const longestKey = 63 + 1 + 32
const longestCounter = 63
const longestValue = 64
const mostTaints = 16
const mostConsumed = 2
const mostCounters = 32

/** The default time of a taint is now. */
export function setTimes({ taints = [] }: Device): void {
  for (const taint of taints as { timeAdded?: string }[]) {
    taint.timeAdded ??= new Date().toISOString().replace(/\.\d+Z$/, "Z")
  }
}

export function validateDevice(
  path: FieldPath,
  device: Device,
  perDeviceNodeSelection: boolean,
  earlier: Device | undefined,
): FieldError[] {
  const { attributes = {}, capacity = {}, taints, consumesCounters } = device
  const errors = labelName(path.child("name"), device.name)
  const size = Object.keys(attributes).length + Object.keys(capacity).length
  if (size > mostAttributesAndCapacities) {
    const detail = `the total number of attributes and capacities must not exceed ${mostAttributesAndCapacities}`
    errors.push(invalidValue(path, size, detail))
  }
  // Each has one value: attributes with lists are behind a disabled feature gate.
  const values = Object.keys(attributes).length
  if (values > mostAttributeValues) {
    const detail = `the total number of attribute values must not exceed ${mostAttributeValues}`
    errors.push(invalidValue(path, values, detail))
  }
  const isShared = device.allowMultipleAllocations === true
  const isKnown = earlier !== undefined && semanticEqual(earlier.taints, taints)
  return [
    ...errors,
    ...entries(path.child("attributes"), attributes, longestKey, qualifiedName, validateAttribute),
    ...entries(path.child("capacity"), capacity, longestKey, qualifiedName, (at, one) =>
      validateCapacity(at, one, isShared),
    ),
    ...(isKnown ? [] : limited(path.child("taints"), taints, mostTaints, validateTaint)),
    ...unique(
      path.child("consumesCounters"),
      consumesCounters,
      mostConsumed,
      validateConsumption,
      ({ counterSet = "" }) => counterSet,
    ),
    ...validateNodes(path, device, perDeviceNodeSelection),
    ...bindingConditions(path, device),
  ]
}

/** Errors of a key are reported at the map, those of a value at the key, which is shortened in the middle if it is too long. */
function entries<T>(
  path: FieldPath,
  map: Readonly<Record<string, T>>,
  longest: number,
  checkKey: (path: FieldPath, key: string) => FieldError[],
  check: (path: FieldPath, item: T) => FieldError[],
): FieldError[] {
  return Object.entries(map).flatMap(([key, item]) => [
    ...checkKey(path, key),
    ...check(path.key(shortened(key, longest)), item),
  ])
}

/** Bytes are counted and cut off. */
function shortened(key: string, longest: number): string {
  const bytes = Buffer.from(key)
  if (bytes.length <= longest) return key
  const kept = longest - "...".length
  const [start, end] = [bytes.subarray(0, Math.floor((kept + 1) / 2)), bytes.subarray(-Math.floor(kept / 2))]
  return `${start.toString()}...${end.toString()}`
}

export function validateCounters(path: FieldPath, counters: Readonly<Record<string, unknown>> = {}): FieldError[] {
  const count = Object.keys(counters).length
  if (count === 0) return [required(path)]
  if (count > mostCounters) return [tooMany(path, count, mostCounters)]
  return entries(path, counters, longestCounter, labelName, () => [])
}

type Consumption = NonNullable<Device["consumesCounters"]>[number]

function validateConsumption(path: FieldPath, { counterSet = "", counters }: Consumption): FieldError[] {
  const at = path.child("counterSet")
  return [
    ...(counterSet === "" ? [required(at)] : labelName(at, counterSet)),
    ...validateCounters(path.child("counters"), counters),
  ]
}

/** semver.org 2.0.0. */
const versionPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

function validateAttribute(path: FieldPath, attribute: Attribute): FieldError[] {
  const { bool, int, string, version } = attribute
  const errors: FieldError[] = []
  const short = (field: string, text = ""): void => {
    if (Buffer.byteLength(text) > longestValue) errors.push(tooLong(path.child(field), "", longestValue))
  }
  short("string", string)
  if (version !== undefined && !versionPattern.test(version)) {
    errors.push(invalidValue(path.child("version"), version, "must be a string compatible with semver.org spec 2.0.0"))
  }
  short("version", version)
  const count = [bool, int, string, version].filter((value) => value !== undefined).length
  if (count === 0) errors.push(invalidValue(path, "", "exactly one value must be specified"))
  if (count > 1) errors.push(invalidValue(path, shownAttribute(attribute), "exactly one value must be specified"))
  return errors
}

/** Go's representation. */
function shownAttribute({ bool = null, int = null, string = null, version = null }: ShownAttribute): object {
  const lists = { IntValues: null, BoolValues: null, StringValues: null, VersionValues: null }
  return {
    IntValue: typeof int === "bigint" ? Number(int) : int,
    BoolValue: bool,
    StringValue: string,
    VersionValue: version,
    ...lists,
  }
}

interface ShownAttribute {
  bool?: boolean | null
  int?: number | bigint | null
  string?: string | null
  version?: string | null
}

/** Only a device that can be shared has a request policy. */
function validateCapacity(path: FieldPath, { value, requestPolicy }: Capacity, isShared: boolean): FieldError[] {
  const at = path.child("requestPolicy")
  if (requestPolicy === undefined) return []
  return isShared
    ? validateRequestPolicy(at, requestPolicy, value ?? "0")
    : [forbiddenField(at, "allowMultipleAllocations must be true")]
}

type Taint = NonNullable<Device["taints"]>[number]

function validateTaint(path: FieldPath, { key, value = "", effect }: Taint): FieldError[] {
  return [
    ...validateLabelName(path.child("key"), key),
    ...messages(path.child("value"), value, validateLabelValue(value)),
    ...taintEffect(path.child("effect"), effect),
  ]
}

/** The node access of a single device, if the slice leaves that to its devices. */
function validateNodes(path: FieldPath, { nodeName, nodeSelector, allNodes }: Device, isEach: boolean): FieldError[] {
  if (!isEach) {
    if (nodeName === undefined && nodeSelector === undefined && allNodes === undefined) return []
    const detail =
      "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
    return [invalidValue(path, null, detail)]
  }
  const errors: FieldError[] = []
  if (nodeName === "") errors.push(invalidValue(path.child("nodeName"), nodeName, "must not be empty"))
  else if (nodeName !== undefined) {
    errors.push(...messages(path.child("nodeName"), nodeName, validateDNS1123Subdomain(nodeName)))
  }
  if (nodeSelector !== undefined) errors.push(...validateNodeSelector(path.child("nodeSelector"), nodeSelector))
  if (allNodes === false) {
    errors.push(invalidValue(path.child("allNodes"), allNodes, "must be either unset or set to true"))
  }
  const said = [
    ...(nodeName ? ["`nodeName`"] : []),
    ...(nodeSelector === undefined ? [] : ["`nodeSelector`"]),
    ...(allNodes === true ? ["`allNodes`"] : []),
  ]
  const one =
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
  if (said.length === 0) errors.push(required(path, one))
  if (said.length > 1) errors.push(invalidValue(path, `{${said.join(", ")}}`, one))
  return errors
}
