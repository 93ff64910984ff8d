// The fields that a request cannot change through a resource or subresource, so that it never becomes their manager. Source:
// GetResetFields of the strategies in k8s.io/kubernetes/pkg/registry, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldSet, setOfFields } from "../../../../apimachinery/managed-fields/field-set.ts"
import type { ResourceDefinition } from "../../rest.ts"

const spec = ["spec"]
const status = ["status"]
const metadata = ["metadata"]

const resetStatus = setOfFields(status)
const resetSpec = setOfFields(spec)
const resetAllButStatus = setOfFields(metadata, spec)

/** Exceptions, by "group/resource/subresource". */
const special: Readonly<Record<string, FieldSet | undefined>> = dictionary({
  "/namespaces/finalize": resetStatus,
  "/pods/status": setOfFields(spec, ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]),
  "apiregistration.k8s.io/apiservices/status": resetAllButStatus,
  "apps/deployments/status": setOfFields(spec, ["metadata", "labels"]),
  "certificates.k8s.io/certificatesigningrequests/": setOfFields(spec, status),
  "certificates.k8s.io/certificatesigningrequests/status": setOfFields(spec, ["status", "conditions"]),
  "certificates.k8s.io/certificatesigningrequests/approval": setOfFields(spec, ["status", "certificate"]),
  "certificates.k8s.io/podcertificaterequests/": undefined,
})

export function resetFields(definition: ResourceDefinition, subresource: string): FieldSet | undefined {
  const { group, resource, customResource, subresources } = definition
  const key = `${group}/${resource}/${subresource}`
  if (Object.hasOwn(special, key)) return special[key]
  const hasStatus = subresources.some(({ name }) => name === "status")
  if (subresource === "") return hasStatus ? resetStatus : undefined
  // Versions of a custom resource may have none.
  if (subresource !== "status" || !hasStatus) return undefined
  return customResource !== undefined || keepsMetadata.has(`${group}/${resource}`) ? resetAllButStatus : resetSpec
}

/**
 * Kinds whose status updates cannot change metadata, like those of custom resources. Status updates of older kinds can, except for
 * the labels of Deployments. Source: ResetObjectMetaForStatus in k8s.io/kubernetes/pkg/registry.
 */
export const keepsMetadata: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io/validatingadmissionpolicies",
  "apiregistration.k8s.io/apiservices",
  "flowcontrol.apiserver.k8s.io/flowschemas",
  "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations",
  "networking.k8s.io/servicecidrs",
  "resource.k8s.io/resourceclaims",
  "storage.k8s.io/volumeattachments",
])
