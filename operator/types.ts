// The objects of tenancy.x-k8s.io/v1alpha1. Schema and limits: manifests/crds.

import type { KubeObject } from "../apimachinery/object.ts"
import type { TenantQuota } from "../client/tenants.ts"
import { tenancyGroup, tenancyVersion } from "../apimachinery/tenancy.ts"

export const tenancyAPIVersion = `${tenancyGroup}/${tenancyVersion}`

export type Phase = "Pending" | "Running" | "Error"

interface VirtualClusterCondition {
  type?: string
  status: "True" | "False" | "Unknown"
  lastTransitionTime?: string
  reason?: string
  message?: string
}

export interface VirtualClusterStatus {
  phase?: Phase
  clusterNamespace?: string
  message?: string
  reason?: string
  conditions?: VirtualClusterCondition[]
  /** The quota that the gateway enforces. */
  quota?: TenantQuota
}

export interface VirtualCluster extends KubeObject {
  spec?: {
    clusterVersionName: string
    clusterDomain?: string
    controllers?: boolean
    quota?: TenantQuota
    transparentMetaPrefixes?: string[]
    opaqueMetaPrefixes?: string[]
  }
  status?: VirtualClusterStatus
}

/** The ClusterVersion that always exists. */
export const defaultClusterVersion = "default"
