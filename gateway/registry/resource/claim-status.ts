// The status of a claim: its allocated devices, its consumers, and the drivers' reports. Source:
// k8s.io/kubernetes/pkg/apis/resource/validation ValidateResourceClaimStatusUpdate.

import {
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  required,
  tooLong,
  tooMany,
} from "../../../apimachinery/field-errors.ts"
import { validateNodeSelector } from "../core/pod-spec/scheduling.ts"
import { interfaceAddress } from "../validation/addresses.ts"
import { validateConditions } from "../validation/conditions.ts"
import { immutableField, semanticEqual } from "../validation/equality.ts"
import { oneOf } from "../validation/values.ts"
import { reference, references, type RequestNames, requestNames } from "./requests.ts"
import type { Allocation, Claim, DeviceName, DeviceStatus, Result } from "./types.ts"
import {
  bindingConditions,
  configuration,
  driverName,
  itself,
  labelName,
  limited,
  limits,
  poolName,
  rawObject,
  shareID,
  unique,
} from "./values.ts"

const path = FieldPath.root("status")
const longestInterface = 256
const longestHardwareAddress = 128

export function validateStatus(claim: Claim, current: Claim): FieldError[] {
  const { reservedFor = [], allocation, devices } = claim.status ?? {}
  const allocated = new Set((allocation?.devices?.results ?? []).map(keyOf))
  const before = current.status?.allocation
  const at = path.child("allocation")
  return [
    ...unique(path.child("reservedFor"), reservedFor, limits.reservedFor, validateUser, ({ uid = "" }) => uid),
    ...unique(
      path.child("devices"),
      devices,
      Infinity,
      (place, device) => validateDevice(place, device, allocated),
      keyOf,
      shownName,
    ),
    ...validateReservations(claim, current),
    ...(allocation !== undefined && before !== undefined ? immutableField(at, allocation, before) : []),
    ...(allocation !== undefined && before === undefined
      ? validateAllocation(at, allocation, requestNames(claim.spec?.devices))
      : []),
  ]
}

/** Drops the reports on devices that are no longer allocated to the claim. */
export function dropDeallocated(claim: Claim, current: Claim): void {
  const { status } = claim
  if (status?.devices === undefined) return
  const kept = new Set((status.allocation?.devices?.results ?? []).map(keyOf))
  const gone = new Set((current.status?.allocation?.devices?.results ?? []).map(keyOf).filter((key) => !kept.has(key)))
  status.devices = status.devices.filter((device) => !gone.has(keyOf(device)))
  if (status.devices.length === 0) delete status.devices
}

/** Go's representation. */
function shownName({ driver = "", pool = "", device = "", shareID: share = "" }: DeviceName): object {
  return { Driver: driver, Pool: pool, Device: device, ShareID: share }
}

function keyOf(device: DeviceName): string {
  return JSON.stringify(shownName(device))
}

type User = NonNullable<NonNullable<Claim["status"]>["reservedFor"]>[number]

function validateUser(at: FieldPath, user: User): FieldError[] {
  return (["resource", "name", "uid"] as const)
    .filter((field) => !user[field])
    .map((field) => required(at.child(field)))
}

function validateReservations({ metadata, status = {} }: Claim, current: Claim): FieldError[] {
  const { reservedFor = [], allocation } = status
  const at = path.child("reservedFor")
  if (reservedFor.length === 0) return []
  if (allocation === undefined) return [forbiddenField(at, "may not be specified when `allocated` is not set")]
  const before = current.status?.reservedFor ?? []
  const isNew = (user: User): boolean => !before.some((earlier) => semanticEqual(earlier, user))
  if (metadata.deletionTimestamp === undefined || !reservedFor.some(isNew)) return []
  const detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
  return [forbiddenField(at, detail)]
}

function validateAllocation(
  at: FieldPath,
  { devices = {}, nodeSelector }: Allocation,
  names: RequestNames,
): FieldError[] {
  const place = at.child("devices")
  return [
    ...limited(place.child("results"), devices.results, limits.results, (item, result) =>
      validateResult(item, result, names),
    ),
    ...limited(place.child("config"), devices.config, limits.allocatedConfigurations, (item, config) => [
      ...oneOf(item.child("source"), config.source, ["FromClaim", "FromClass"]),
      ...references(item.child("requests"), config.requests, names),
      ...configuration(item, config),
    ]),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(at.child("nodeSelector"), nodeSelector)),
  ]
}

function validateResult(at: FieldPath, result: Result, names: RequestNames): FieldError[] {
  return [
    ...reference(at.child("request"), result.request, names),
    ...driverName(at.child("driver"), result.driver),
    ...poolName(at.child("pool"), result.pool),
    ...labelName(at.child("device"), result.device),
    ...bindingConditions(at, result),
    ...(result.shareID === undefined ? [] : shareID(at.child("shareID"), result.shareID)),
  ]
}

function validateDevice(at: FieldPath, device: DeviceStatus, allocated: ReadonlySet<string>): FieldError[] {
  const { data, networkData } = device
  const conditions = device.conditions ?? []
  const errors = [
    ...driverName(at.child("driver"), device.driver),
    ...poolName(at.child("pool"), device.pool),
    ...labelName(at.child("device"), device.device),
    ...(device.shareID === undefined ? [] : shareID(at.child("shareID"), device.shareID)),
  ]
  if (!allocated.has(keyOf(device))) {
    errors.push(invalidValue(at, shownName(device), "must be an allocated device in the claim"))
  }
  if (conditions.length > limits.conditions) {
    errors.push(tooMany(at.child("conditions"), conditions.length, limits.conditions))
  }
  return [
    ...errors,
    ...validateConditions(at.child("conditions"), conditions),
    ...(data === undefined ? [] : rawObject(at.child("data"), data)),
    ...(networkData === undefined ? [] : validateNetwork(at.child("networkData"), networkData)),
  ]
}

function validateNetwork(at: FieldPath, network: NonNullable<DeviceStatus["networkData"]>): FieldError[] {
  const { interfaceName = "", hardwareAddress = "", ips } = network
  const short = (field: string, text: string, max: number): FieldError[] =>
    Buffer.byteLength(text) > max ? [tooLong(at.child(field), "", max)] : []
  return [
    ...short("interfaceName", interfaceName, longestInterface),
    ...short("hardwareAddress", hardwareAddress, longestHardwareAddress),
    ...unique(at.child("ips"), ips, limits.addresses, interfaceAddress, itself),
  ]
}
