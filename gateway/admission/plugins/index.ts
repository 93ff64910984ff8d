// The admission plugins in kube-apiserver's order. Source: k8s.io/kubernetes/pkg/kubeapiserver/options/plugins.go.

import type { AdmissionPlugin } from "../chain.ts"
import { evaluateMatchConditions } from "../policies/conditions.ts"
import { MutatingPolicies } from "../policies/mutating.ts"
import { ValidatingPolicies } from "../policies/validating.ts"
import type { AdmissionRegistrations } from "../registrations.ts"
import { MutatingWebhooks } from "../webhooks/mutating.ts"
import { ValidatingWebhooks } from "../webhooks/validating.ts"
import { authenticationConfiguration } from "./authentication-configuration.ts"
import { certificates } from "./certificates.ts"
import { taintNodesByCondition } from "./node-taint.ts"
import { nodeRestriction } from "./node-restriction/plugin.ts"
import { persistentVolumeClaimResize } from "./claim-resize.ts"
import { declaredFeatures } from "./declared-features.ts"
import { defaultIngressClass, defaultStorageClass } from "./default-classes.ts"
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts"
import { limitRanger } from "./limit-ranger.ts"
import { namespaceLifecycle } from "./namespace-lifecycle.ts"
import { podResize } from "./pod-resize.ts"
import { podSecurity } from "./pod-security/plugin.ts"
import { podTopologyLabels } from "./pod-topology-labels.ts"
import { priority } from "./priority.ts"
import { ResourceQuotaPlugin } from "./resource-quota.ts"
import { runtimeClass } from "./runtime-class.ts"
import { serviceAccount } from "./service-account.ts"
import { storageObjectInUseProtection } from "./storage-protection.ts"
import { terminatingDefinition } from "./terminating-definition.ts"

/** Creates new plugins for each control plane: some have per-control-plane state. */
export function admissionPlugins(registrations: AdmissionRegistrations): AdmissionPlugin[] {
  return [
    terminatingDefinition,
    namespaceLifecycle,
    limitRanger,
    serviceAccount,
    nodeRestriction,
    taintNodesByCondition,
    podSecurity,
    priority,
    defaultTolerationSeconds,
    defaultStorageClass,
    storageObjectInUseProtection,
    persistentVolumeClaimResize,
    runtimeClass,
    certificates,
    defaultIngressClass,
    podTopologyLabels,
    declaredFeatures,
    podResize,
    new MutatingPolicies(registrations),
    new MutatingWebhooks(registrations, evaluateMatchConditions),
    authenticationConfiguration,
    new ValidatingPolicies(registrations),
    new ValidatingWebhooks(registrations, evaluateMatchConditions),
    new ResourceQuotaPlugin(),
  ]
}
