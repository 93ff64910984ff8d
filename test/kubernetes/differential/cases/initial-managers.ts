// The managers of the fields of objects that every new cluster has: who they are, and what becomes of them when others write.

import { applyPatch, get, mergePatch, patch, type RequestStep, type Scenario } from "../scenario.ts"

/** Their paths, and their kinds. */
const objects: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  "/api/v1/namespaces/default": ["v1", "Namespace"],
  "/api/v1/namespaces/kube-node-lease": ["v1", "Namespace"],
  "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking": ["v1", "ConfigMap"],
  "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery": ["rbac.authorization.k8s.io/v1", "ClusterRole"],
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery": [
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
  ],
  "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/system::leader-locking-kube-scheduler": [
    "rbac.authorization.k8s.io/v1",
    "Role",
  ],
  "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical": ["scheduling.k8s.io/v1", "PriorityClass"],
  "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt": ["flowcontrol.apiserver.k8s.io/v1", "FlowSchema"],
  "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt": [
    "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration",
  ],
  "/apis/apiregistration.k8s.io/v1/apiservices/v1.apps": ["apiregistration.k8s.io/v1", "APIService"],
}

export function initialManagerCases(): Scenario[] {
  return Object.entries(objects).map(([path, type]) => ({
    name: `an initial ${type[1]} is somebody's: ${path.slice(path.lastIndexOf("/") + 1)}`,
    steps: steps(path, ...type),
  }))
}

/** Nothing is changed, since other scenarios need these objects as well. */
function steps(path: string, apiVersion: string, kind: string): RequestStep[] {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const labelled = (labels: Record<string, string>) => ({ metadata: { labels } })
  const applied = (labels: Record<string, string>) => ({ apiVersion, kind, metadata: { name, labels } })
  const ours = { "kubernetes.io/bootstrapping": "no", "kubernetes.io/metadata.name": "other" }
  return [
    get(path),
    patch(`${path}?dryRun=All&fieldManager=x`, mergePatch, labelled({ mine: "1" })),
    patch(`${path}?dryRun=All&fieldManager=x`, applyPatch, applied({ mine: "1" }), { label: "APPLY own" }),
    patch(`${path}?dryRun=All&fieldManager=x`, applyPatch, applied(ours), { label: "APPLY conflicting" }),
    patch(`${path}?dryRun=All&fieldManager=x&force=true`, applyPatch, applied(ours), { label: "APPLY forced" }),
    patch(`${path}?dryRun=All&fieldManager=kube-apiserver`, applyPatch, applied({ mine: "1" }), {
      label: "APPLY same",
    }),
  ]
}
