// The admission plugins in running order, which is kube-apiserver's. Source: k8s.io/kubernetes/pkg/kubeapiserver/options/plugins.go.

import type { AdmissionPlugin } from "../chain.ts"

export function admissionPlugins(): AdmissionPlugin[] {
  return []
}
