// Bodies of kinds in versions that are not served: those that the server knows nevertheless, and others.

import { post, type RequestStep, type Scenario } from "../scenario.ts"

/** A resource of each scheme: path, kind, and other versions of that kind. */
const resources: readonly (readonly [string, string, readonly string[]])[] = [
  ["/apis/apps/v1/namespaces/@{ns}/deployments", "Deployment", ["apps/v1beta1", "extensions/v1beta1", "apps/v1alpha1"]],
  ["/apis/batch/v1/namespaces/@{ns}/cronjobs", "CronJob", ["batch/v1beta1", "batch/v2alpha1"]],
  ["/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses", "Ingress", ["extensions/v1beta1", "v1"]],
  [
    "/apis/autoscaling/v2/namespaces/@{ns}/horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    ["autoscaling/v2beta2"],
  ],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "CustomResourceDefinition",
    ["apiextensions.k8s.io/v1beta1", "apps/v1beta1"],
  ],
  ["/apis/apiregistration.k8s.io/v1/apiservices", "APIService", ["apiregistration.k8s.io/v1beta1"]],
]

/** Kinds and versions, known and unknown. */
const bodies: Readonly<Record<string, readonly string[]>> = {
  "admissionregistration.k8s.io/v1alpha1": [
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
  ],
  "admissionregistration.k8s.io/v1beta1": [
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
  ],
  "apiregistration.k8s.io/v1beta1": ["APIService"],
  "apps/v1beta1": ["ControllerRevision", "Deployment", "DeploymentRollback", "Scale", "StatefulSet"],
  "apps/v1beta2": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "Scale", "StatefulSet"],
  "authentication.k8s.io/v1alpha1": ["SelfSubjectReview"],
  "authentication.k8s.io/v1beta1": ["SelfSubjectReview", "TokenReview"],
  "authorization.k8s.io/v1beta1": [
    "LocalSubjectAccessReview",
    "SelfSubjectAccessReview",
    "SelfSubjectRulesReview",
    "SubjectAccessReview",
  ],
  "batch/v1beta1": ["CronJob"],
  "certificates.k8s.io/v1alpha1": ["ClusterTrustBundle"],
  "certificates.k8s.io/v1beta1": ["CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"],
  "coordination.k8s.io/v1alpha2": ["LeaseCandidate"],
  "coordination.k8s.io/v1beta1": ["Lease", "LeaseCandidate"],
  "discovery.k8s.io/v1beta1": ["EndpointSlice"],
  "events.k8s.io/v1beta1": ["Event"],
  "extensions/v1beta1": [
    "DaemonSet",
    "Deployment",
    "DeploymentRollback",
    "Ingress",
    "NetworkPolicy",
    "ReplicaSet",
    "Scale",
  ],
  "flowcontrol.apiserver.k8s.io/v1beta1": ["FlowSchema", "PriorityLevelConfiguration"],
  "flowcontrol.apiserver.k8s.io/v1beta2": ["FlowSchema", "PriorityLevelConfiguration"],
  "flowcontrol.apiserver.k8s.io/v1beta3": ["FlowSchema", "PriorityLevelConfiguration"],
  "imagepolicy.k8s.io/v1alpha1": ["ImageReview"],
  "internal.apiserver.k8s.io/v1alpha1": ["StorageVersion"],
  "networking.k8s.io/v1beta1": ["IPAddress", "Ingress", "IngressClass", "ServiceCIDR"],
  "node.k8s.io/v1alpha1": ["RuntimeClass"],
  "node.k8s.io/v1beta1": ["RuntimeClass"],
  "policy/v1beta1": ["Eviction", "PodDisruptionBudget"],
  "rbac.authorization.k8s.io/v1alpha1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  "rbac.authorization.k8s.io/v1beta1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
  "resource.k8s.io/v1alpha3": ["DeviceTaintRule", "ResourcePoolStatusRequest"],
  "resource.k8s.io/v1beta1": ["DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"],
  "resource.k8s.io/v1beta2": [
    "DeviceClass",
    "DeviceTaintRule",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
  ],
  "scheduling.k8s.io/v1alpha2": ["PodGroup", "Workload"],
  "scheduling.k8s.io/v1beta1": ["PriorityClass"],
  "storage.k8s.io/v1alpha1": ["CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"],
  "storage.k8s.io/v1beta1": [
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "StorageClass",
    "VolumeAttachment",
    "VolumeAttributesClass",
  ],
  "storagemigration.k8s.io/v1beta1": ["StorageVersionMigration"],
  "apiextensions.k8s.io/v1beta1": ["CustomResourceDefinition"],
  "apps/v1beta3": ["Deployment"],
  "autoscaling/v2beta1": ["HorizontalPodAutoscaler"],
}

export function unservedVersionCases(): Scenario[] {
  return [{ name: "versions that are not served", steps: [...resources.flatMap(others), ...mixed()] }]
}

function others([path, kind, versions]: (typeof resources)[number]): RequestStep[] {
  return versions.map((apiVersion) =>
    post(path, { apiVersion, kind, metadata: { name: "a" } }, { label: `POST ${kind} ${apiVersion}` }),
  )
}

function mixed(): RequestStep[] {
  const given = Object.entries(bodies).flatMap(([apiVersion, kinds]) => kinds.map((kind) => ({ apiVersion, kind })))
  return ["/api/v1/namespaces/@{ns}/configmaps", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"].flatMap(
    (path) =>
      given.map((body) =>
        post(path, { ...body, metadata: { name: "a" } }, { label: `POST ${body.apiVersion} ${body.kind} to ${path}` }),
      ),
  )
}
