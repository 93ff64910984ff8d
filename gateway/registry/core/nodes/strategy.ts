// Nodes. Source: k8s.io/kubernetes/pkg/{apis,registry}/core.

import { parseLoosePrefix } from "../../../../apimachinery/addresses.ts"
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  internalFieldError,
  invalidValue,
} from "../../../../apimachinery/field-errors.ts"
import { compareText } from "../../../../apimachinery/go/text-order.ts"
import type { Node } from "../../../../apimachinery/object.ts"
import { isGivenEmpty } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { isIPv6Address, legacyNetwork, networkWarnings } from "../../validation/addresses.ts"
import { notPositive } from "../../validation/values.ts"
import { validateAmount } from "../pod-spec/resources.ts"
import { validateNodeAnnotations } from "./annotations.ts"
import { proxy } from "./connect/proxy.ts"
import { validateTaints } from "./taints.ts"

const path = FieldPath.root("spec")
const emptyNodeInfo = {
  architecture: "",
  bootID: "",
  containerRuntimeVersion: "",
  kernelVersion: "",
  kubeProxyVersion: "",
  kubeletVersion: "",
  machineID: "",
  operatingSystem: "",
  osImage: "",
  systemUUID: "",
}

/** allocatable defaults to capacity. */
function allocateAll(status: NonNullable<Node["status"]>): void {
  if (status.allocatable !== undefined || status.capacity === undefined) return
  status.allocatable = { ...status.capacity }
}

const strategy: Strategy<Node> = {
  generation: false,

  default(node) {
    node.spec ??= {}
    const status = (node.status ??= {})
    // Upstream these are values and not pointers, so they are written even if they are not set.
    status.daemonEndpoints ??= {}
    status.daemonEndpoints.kubeletEndpoint ??= { Port: 0 }
    status.nodeInfo = { ...emptyNodeInfo, ...status.nodeInfo }
    if (!isGivenEmpty(status, "allocatable")) allocateAll(status)
  },

  convert: ({ spec }) => spec && alignRanges(spec),

  /** Kubelets set the status when they register. */
  prepareForCreate: (_ctx, node) => prepare(node),

  validate: (_ctx, node) => validate(node),

  prepareForUpdate: (_ctx, node) => prepare(node),

  validateUpdate(ctx, node, current) {
    const errors =
      ctx.info.subresource === "status" ? validateNodeAnnotations(node.metadata.annotations) : validate(node)
    errors.push(...validateResources(node), ...validateFeatures(node))
    if ((node.spec?.externalID ?? "") !== (current.spec?.externalID ?? "")) {
      errors.push(forbiddenField(path.child("externalID"), "may not be updated"))
    }
    const seen = new Set<string>()
    for (const [index, address] of (node.status?.addresses ?? []).entries()) {
      const key = `${address.type}/${address.address}`
      if (seen.has(key)) {
        const shown = { Type: address.type ?? "", Address: address.address ?? "" }
        errors.push(duplicate(FieldPath.root("status", "addresses").index(index), shown))
      }
      seen.add(key)
    }
    const before = current.spec?.podCIDRs ?? []
    if (before.length > 0 && before.join() !== (node.spec?.podCIDRs ?? []).join()) {
      errors.push(forbiddenField(path.child("podCIDRs"), 'node updates may not change podCIDR except from "" to valid'))
    }
    if (current.spec?.providerID && current.spec.providerID !== node.spec?.providerID) {
      errors.push(
        forbiddenField(path.child("providerID"), 'node updates may not change providerID except from "" to valid'),
      )
    }
    return [...errors, ...taintErrors(node)]
  },

  warnings(_ctx, { spec }) {
    const warnings: string[] = []
    if (spec?.configSource !== undefined) warnings.push("spec.configSource: the feature is removed")
    if (spec?.externalID) warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    const at = path.child("podCIDRs")
    return [...warnings, ...(spec?.podCIDRs ?? []).flatMap((range, index) => networkWarnings(at.index(index), range))]
  },

  selectableFields: (node) => ({ "spec.unschedulable": String(node.spec?.unschedulable ?? false) }),
}

export const nodes: KindExtension = { strategy, subresources: { proxy } }

/** podCIDR is the first of podCIDRs. If they differ, podCIDR wins: the client may know only this older field. */
function alignRanges(spec: NonNullable<Node["spec"]>): void {
  const { podCIDR, podCIDRs = [] } = spec
  if (podCIDR && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR]
  else if (podCIDRs[0]) spec.podCIDR = podCIDRs[0]
}

function prepare(node: Node): void {
  dropConfiguration(node)
  if (node.status !== undefined) allocateAll(node.status)
}

/** Dynamic kubelet configuration was removed. */
function dropConfiguration(node: Node): void {
  delete node.spec?.configSource
  delete node.status?.config
}

function validate(node: Node): FieldError[] {
  return [
    ...validateNodeAnnotations(node.metadata.annotations),
    ...taintErrors(node),
    ...validateResources(node),
    ...validateSwap(node),
    ...validateFeatures(node),
    ...validateRanges(node.spec?.podCIDRs ?? []),
  ]
}

/** Clients display the path, so it is "metadata.taints" as upstream. */
const taintErrors = ({ spec }: Node): FieldError[] => validateTaints(FieldPath.root("metadata", "taints"), spec?.taints)

/** Upstream reports the path under metadata. */
function validateSwap({ status }: Node): FieldError[] {
  const capacity = status?.nodeInfo?.swap?.capacity
  const at = FieldPath.root("metadata", "nodeSwapStatus", "capacity")
  return capacity === undefined || capacity > 0 ? [] : [invalidValue(at, capacity, notPositive)]
}

/** One range, or one of each IP family. */
function validateRanges(ranges: readonly string[]): FieldError[] {
  const at = path.child("podCIDRs")
  const errors = ranges.flatMap((range, index) => legacyNetwork(at.index(index), range))
  if (ranges.length < 2) return errors
  const bad = ranges.findIndex((range) => parseLoosePrefix(range) === undefined)
  if (bad >= 0) {
    const cause = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${ranges[bad]})`
    errors.push(internalFieldError(at, `invalid PodCIDRs. failed to check with dual stack with error:${cause}`))
  }
  const families = new Set(ranges.map((range) => isIPv6Address(range.split("/")[0] ?? "")))
  if (bad >= 0 || families.size < 2 || ranges.length > 2) {
    errors.push(invalidValue(at, ranges, "may specify no more than one CIDR for each IP family"))
  }
  return errors
}

const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/
const maxFeatureName = 253

/** Features that the kubelet declares: sorted and unique. */
function validateFeatures(node: Node): FieldError[] {
  const at = FieldPath.root("status", "declaredFeatures")
  const features = node.status?.declaredFeatures ?? []
  return features.flatMap((feature, index) => {
    const errors: FieldError[] = []
    const name = JSON.stringify(feature)
    if (Buffer.byteLength(feature) > maxFeatureName) {
      const fault = `invalid feature name ${name}: must be no more than ${maxFeatureName} characters`
      errors.push(invalidValue(at.index(index), feature, fault))
    } else if (!featureName.test(feature)) {
      const fault = `invalid feature name ${name}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`
      errors.push(invalidValue(at.index(index), feature, fault))
    }
    const next = features[index + 1]
    if (next === undefined || compareText(feature, next) < 0) return errors
    const place = at.index(index + 1)
    const fault =
      feature === next ? duplicate(place, next) : invalidValue(place, next, "list must be sorted alphabetically")
    return [...errors, fault]
  })
}

function validateResources(node: Node): FieldError[] {
  return (["capacity", "allocatable"] as const).flatMap((list) =>
    Object.entries((node.status?.[list] ?? {}) as Record<string, string>).flatMap(([name, amount]) =>
      validateAmount(FieldPath.root("status", list, name), name, String(amount)),
    ),
  )
}
