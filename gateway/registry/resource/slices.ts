// ResourceSlices: the devices of a driver by pool. Source: k8s.io/kubernetes/pkg/apis/resource/validation ValidateResourceSlice.

import { type FieldError, FieldPath, invalidValue, required } from "../../../apimachinery/field-errors.ts"
import { isGivenEmpty } from "../../../apimachinery/schema/decode/given.ts"
import { validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import { type NodeSelector, validateNodeSelector } from "../core/pod-spec/scheduling.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { immutableField, immutableFields } from "../validation/equality.ts"
import { messages, notPositive } from "../validation/values.ts"
import { setTimes, validateCounters, validateDevice } from "./devices.ts"
import type { Device, Slice, SliceSpec } from "./types.ts"
import { driverName, labelName, poolName, unique } from "./values.ts"

const path = FieldPath.root("spec")
const mostDevices = 128
/** Devices with taints or counters are larger, so fewer are allowed. */
const mostAdvancedDevices = 64
const mostCounterSets = 8

const strategy: Strategy<Slice> = {
  default({ spec }) {
    for (const device of spec?.devices ?? []) setTimes(device)
  },

  dropDisabled({ spec }) {
    for (const device of spec?.devices ?? []) dropDisabledOf(device)
  },
  countsDropped: true,

  validate: (_ctx, { spec = {} }) => validate(spec),
  validateUpdate: (_ctx, { spec = {} }, current) => validate(spec, current.spec ?? {}),

  warnings: (_ctx, { spec: { driver = "" } = {} }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`],

  selectableFields: ({ spec = {} }) => ({
    "spec.nodeName": spec.nodeName ?? "",
    "spec.driver": spec.driver ?? "",
  }),
}

export const resourceSlices: KindExtension = { strategy }

/** List attributes and devices for a node's own resources are behind disabled feature gates. */
function dropDisabledOf(device: Device): void {
  delete device.nodeAllocatableResourceMappings
  for (const attribute of Object.values(device.attributes ?? {})) {
    delete attribute.bools
    delete attribute.ints
    delete attribute.strings
    delete attribute.versions
  }
}

function validate(spec: SliceSpec, current?: SliceSpec): FieldError[] {
  const { devices, sharedCounters, perDeviceNodeSelection = false } = spec
  const errors = [
    ...driverName(path.child("driver"), spec.driver),
    ...validatePool(spec.pool),
    ...(current === undefined ? [] : validateIdentity(spec, current)),
    ...validateNodes(spec),
  ]
  const isGiven = (field: "devices" | "sharedCounters"): boolean =>
    spec[field] !== undefined || isGivenEmpty(spec, field)
  if (isGiven("devices") && isGiven("sharedCounters")) {
    errors.push(invalidValue(path, "", "only one of `sharedCounters` or `devices` is allowed"))
  }
  const isAdvanced = devices?.some(
    ({ taints = [], consumesCounters = [] }) => taints.length + consumesCounters.length > 0,
  )
  const earlier = (name: string | undefined): Device | undefined =>
    current?.devices?.find((device) => device.name === name)
  const check = (at: FieldPath, device: Device): FieldError[] =>
    validateDevice(at, device, perDeviceNodeSelection, earlier(device.name))
  const most = isAdvanced === true ? mostAdvancedDevices : mostDevices
  return [
    ...errors,
    ...unique(path.child("devices"), devices, most, check, nameOf),
    ...unique(path.child("sharedCounters"), sharedCounters, mostCounterSets, validateCounterSet, nameOf),
  ]
}

function nameOf({ name = "" }: { name?: string }): string {
  return name
}

function validatePool({ name, generation = 0, resourceSliceCount = 0 }: SliceSpec["pool"] = {}): FieldError[] {
  const at = path.child("pool")
  const errors = poolName(at.child("name"), name)
  if (resourceSliceCount <= 0) {
    errors.push(invalidValue(at.child("resourceSliceCount"), resourceSliceCount, notPositive))
  }
  if (generation < 0) {
    errors.push(invalidValue(at.child("generation"), generation, "must be greater than or equal to zero"))
  }
  return errors
}

function validateIdentity(spec: SliceSpec, current: SliceSpec): FieldError[] {
  return [
    ...immutableField(path.child("pool", "name"), spec.pool?.name ?? "", current.pool?.name ?? ""),
    ...immutableField(path.child("driver"), spec.driver ?? "", current.driver ?? ""),
    ...immutableFields(path, spec, current, ["nodeName"]),
  ]
}

/** The node access of the devices, which must be specified in exactly one way. */
function validateNodes({ nodeName, nodeSelector, allNodes, perDeviceNodeSelection }: SliceSpec): FieldError[] {
  const errors: FieldError[] = []
  if (nodeName === "") {
    errors.push(invalidValue(path.child("nodeName"), nodeName, "must be either unset or set to a non-empty string"))
  } else if (nodeName !== undefined) {
    errors.push(...messages(path.child("nodeName"), nodeName, validateDNS1123Subdomain(nodeName)))
  }
  if (nodeSelector !== undefined) {
    const at = path.child("nodeSelector")
    const terms = nodeSelector.nodeSelectorTerms
    errors.push(...validateNodeSelector(at, nodeSelector))
    if (terms?.length !== 1) {
      errors.push(
        invalidValue(at.child("nodeSelectorTerms"), shownTerms(terms), "must have exactly one node selector term"),
      )
    }
  }
  for (const [field, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value === false) errors.push(invalidValue(path.child(field), value, "must be either unset or set to true"))
  }
  const said = [
    ...(nodeName ? ["`nodeName`"] : []),
    ...(nodeSelector === undefined ? [] : ["`nodeSelector`"]),
    ...(allNodes === true ? ["`allNodes`"] : []),
    ...(perDeviceNodeSelection === true ? ["`perDeviceNodeSelection`"] : []),
  ]
  const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
  if (said.length === 0) errors.push(required(path, one))
  if (said.length > 1) {
    errors.push(invalidValue(path, `{${said.join(", ")}}`, `${one}, but multiple fields are set`))
  }
  return errors
}

type CounterSet = NonNullable<SliceSpec["sharedCounters"]>[number]

function validateCounterSet(at: FieldPath, { name = "", counters }: CounterSet): FieldError[] {
  return [
    ...(name === "" ? [required(at.child("name"))] : labelName(at.child("name"), name)),
    ...validateCounters(at.child("counters"), counters),
  ]
}

/** Go's representation. */
function shownTerms(terms: NodeSelector["nodeSelectorTerms"] | undefined): object | undefined {
  type Term = NodeSelector["nodeSelectorTerms"][number]
  const listOf = <T, S>(
    list: readonly T[] | undefined,
    holder: object,
    key: string,
    show: (item: T) => S,
  ): S[] | null => list?.map(show) ?? (isGivenEmpty(holder, key) ? [] : null)
  const shown = (term: Term, field: keyof Term): object[] | null =>
    listOf(term[field], term, field, (requirement) => ({
      Key: requirement.key ?? "",
      Operator: requirement.operator ?? "",
      Values: listOf(requirement.values, requirement, "values", (value) => value),
    }))
  return terms?.map((term) => ({
    MatchExpressions: shown(term, "matchExpressions"),
    MatchFields: shown(term, "matchFields"),
  }))
}
