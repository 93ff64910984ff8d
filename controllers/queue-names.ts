// Names of queues in kube-controller-manager, where they differ from the controller's name; dashboards show them.

import { dictionary } from "../apimachinery/dictionary.ts"

const upstreamNames: Readonly<Record<string, string>> = dictionary({
  "clusterrole-aggregation": "ClusterRoleAggregator",
  "endpoint-slice": "endpoint_slice",
  "endpoint-slice-mirroring": "endpoint_slice_mirroring",
  "ephemeral-volume": "ephemeral_volume",
  "garbage-collector": "garbage_collector_attempt_to_delete",
  "horizontal-pod-autoscaler": "horizontalpodautoscaler",
  "node-lifecycle": "node_lifecycle_controller",
  "node-ttl": "ttlcontroller",
  "persistentvolume-binder": "claims",
  "persistentvolume-expander": "volume_expand",
  "persistentvolume-protection": "pvprotection",
  "persistentvolume-state": "volumes",
  "persistentvolumeclaim-protection": "pvcprotection",
  replication: "replicationmanager",
  "resource-claim": "resource_claim",
  resourcequota: "resourcequota_primary",
  "root-ca-certificate-publisher": "root_ca_cert_publisher",
  "service-cidr": "ipaddresses",
  "ttl-after-finished": "ttl_jobs_to_delete",
  "volumeattributesclass-protection": "vacprotection",
})

export function queueName(controller: string): string {
  return upstreamNames[controller] ?? controller
}
