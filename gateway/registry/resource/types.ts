// The types of claimable devices, restricted to the fields that are used here.

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { NodeSelector } from "../core/pod-spec/scheduling.ts"
import type { Condition } from "../validation/conditions.ts"

export interface Configuration {
  requests?: readonly string[]
  opaque?: { driver?: string; parameters?: unknown }
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
}

export interface DeviceSelector {
  cel?: { expression?: string }
}

export interface DeviceRequest {
  deviceClassName?: string
  selectors?: DeviceSelector[]
  allocationMode?: string
  /** A bigint if it exceeds the range of a number. */
  count?: number | bigint
  adminAccess?: boolean
  tolerations?: readonly Toleration[]
}

export interface NamedRequest {
  name?: string
  exactly?: DeviceRequest
  firstAvailable?: (DeviceRequest & { name?: string })[]
}

export interface Constraint {
  requests?: readonly string[]
  matchAttribute?: string
  distinctAttribute?: string
}

export interface ClaimSpec {
  /** In stored objects, empty requests are null. */
  devices?: { requests?: NamedRequest[] | null; constraints?: readonly Constraint[]; config?: readonly Configuration[] }
}

/** A device or a share of it; equal if the four fields are equal. */
export interface DeviceName {
  driver?: string
  pool?: string
  device?: string
  shareID?: string
}

export interface Result extends DeviceName {
  request?: string
  adminAccess?: boolean
  bindingConditions?: readonly string[]
  bindingFailureConditions?: readonly string[]
}

export interface Allocation {
  devices?: { results?: readonly Result[]; config?: readonly (Configuration & { source?: string })[] }
  nodeSelector?: NodeSelector
}

export interface DeviceStatus extends DeviceName {
  conditions?: readonly Condition[] | null
  data?: unknown
  networkData?: { interfaceName?: string; hardwareAddress?: string; ips?: readonly string[] }
}

export interface ClaimStatus {
  allocation?: Allocation
  reservedFor?: readonly { resource?: string; name?: string; uid?: string }[]
  devices?: DeviceStatus[]
}

export type Claim = KubeObject & { spec?: ClaimSpec; status?: ClaimStatus }
export type Template = KubeObject & { spec?: { metadata?: KubeObject["metadata"]; spec?: ClaimSpec } }
export type DeviceClass = KubeObject & {
  spec?: { selectors?: DeviceSelector[]; config?: readonly Configuration[]; extendedResourceName?: string }
}

export interface Attribute {
  bool?: boolean
  int?: number | bigint
  string?: string
  version?: string
  bools?: unknown
  ints?: unknown
  strings?: unknown
  versions?: unknown
}

export interface RequestPolicy {
  default?: string
  validValues?: readonly string[]
  validRange?: { min?: string; max?: string; step?: string }
}

export interface Capacity {
  value?: string
  requestPolicy?: RequestPolicy
}

export interface Device {
  name?: string
  attributes?: Record<string, Attribute>
  capacity?: Record<string, Capacity>
  allowMultipleAllocations?: boolean
  taints?: readonly { key?: string; value?: string; effect?: string; timeAdded?: string }[]
  consumesCounters?: readonly { counterSet?: string; counters?: Record<string, unknown> }[]
  nodeName?: string
  nodeSelector?: NodeSelector
  allNodes?: boolean
  bindingConditions?: readonly string[]
  bindingFailureConditions?: readonly string[]
  nodeAllocatableResourceMappings?: unknown
}

export interface SliceSpec {
  driver?: string
  pool?: { name?: string; generation?: number | bigint; resourceSliceCount?: number | bigint }
  nodeName?: string
  nodeSelector?: NodeSelector
  allNodes?: boolean
  perDeviceNodeSelection?: boolean
  devices?: Device[]
  sharedCounters?: readonly { name?: string; counters?: Record<string, unknown> }[]
}

export type Slice = KubeObject & { spec?: SliceSpec }
