// CoreDNS as a cluster's DNS, installed only through objects: in the same way for the cluster of real nodes and for a tenant,
// which looks like any cluster.

import type { KubeObject } from "../../../apimachinery/object.ts"
import { isAlreadyExists } from "../../../apimachinery/status.ts"
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  deployments,
  serviceAccounts,
  services,
} from "../../../client/resources.ts"
import type { KubeClient, Resource } from "../../../client/rest.ts"
import { eventually } from "../../harness/eventually.ts"
import { clusterDomain } from "./layout.ts"

export const coreDNSImage = "registry.k8s.io/coredns/coredns:v1.14.7"
const name = "coredns"
const namespace = "kube-system"
const rbac = "rbac.authorization.k8s.io"
const readyTimeoutMs = 90_000

const corefile = `.:53 {
  errors
  health
  ready
  kubernetes ${clusterDomain} in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
  loop
  reload
}
`

/** `clusterIP`: the address that kubelets configure in pods; if absent, any address: in a tenant, the syncer configures pods. */
function objects(clusterIP: string | undefined): [Resource, KubeObject & Record<string, unknown>][] {
  const ports = [
    { name: "dns", port: 53, protocol: "UDP" },
    { name: "dns-tcp", port: 53, protocol: "TCP" },
  ]
  const labels = { "k8s-app": "kube-dns" }
  return [
    [serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } }],
    [
      clusterRoles,
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRole",
        metadata: { name },
        rules: [
          { apiGroups: [""], resources: ["endpoints", "services", "pods", "namespaces"], verbs: ["list", "watch"] },
          { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
        ],
      },
    ],
    [
      clusterRoleBindings,
      {
        apiVersion: `${rbac}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      },
    ],
    [configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data: { Corefile: corefile } }],
    [
      services,
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "kube-dns", namespace, labels },
        spec: { ...(clusterIP === undefined ? {} : { clusterIP }), selector: labels, ports },
      },
    ],
    [
      deployments,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name, namespace, labels },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              serviceAccountName: name,
              dnsPolicy: "Default",
              priorityClassName: "system-cluster-critical",
              containers: [
                {
                  name,
                  image: coreDNSImage,
                  imagePullPolicy: "IfNotPresent",
                  args: ["-conf", "/etc/coredns/Corefile"],
                  ports: ports.map(({ port, ...rest }) => ({ ...rest, containerPort: port })),
                  readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1 },
                  // No processor: specs of the upstream suite ask for all that the nodes have, to the last millicore.
                  resources: { requests: { memory: "30Mi" } },
                  volumeMounts: [{ name: "config", mountPath: "/etc/coredns" }],
                },
              ],
              volumes: [{ name: "config", configMap: { name } }],
            },
          },
        },
      },
    ],
  ]
}

/** Resolves when it responds. */
export async function installCoreDNS(client: KubeClient, clusterIP?: string): Promise<void> {
  for (const [resource, object] of objects(clusterIP)) {
    try {
      await client.create(resource, object)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
  await eventually(
    async () => {
      const deployment = await client.get<KubeObject & { status?: { readyReplicas?: number } }>(
        deployments,
        namespace,
        name,
      )
      return deployment.status?.readyReplicas === 1
    },
    { timeoutMs: readyTimeoutMs, what: "readiness of CoreDNS" },
  )
}
