// The metrics API of a cluster of real nodes: metrics-server runs on this machine, and reads the kubelets.

import { writeFile } from "node:fs/promises"
import path from "node:path"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { apiServices } from "../../../client/api-services.ts"
import { endpointSlices, services } from "../../../client/resources.ts"
import { freePorts } from "../../harness/ports.ts"
import { binary } from "../build/cache.ts"
import { Component } from "../harness/component.ts"
import type { RealKubernetes } from "./real-kubernetes.ts"

export const metricsProgram = "metrics-server"
const namespace = "kube-system"
const groupVersion = { group: "metrics.k8s.io", version: "v1beta1" }
const usage = { ...groupVersion, resource: "nodes", namespaced: false }

/** Resolves when the usage of every node is known; runs until it is disposed. */
export async function provideResourceMetrics(cluster: RealKubernetes): Promise<AsyncDisposable> {
  const { client, directory, hostAddress, kubeconfig, nodes } = cluster
  const [port = 0] = await freePorts(1)
  const authority = path.join(directory, "kubelet-ca.crt")
  await writeFile(authority, cluster.certificateAuthority)
  await using stack = new AsyncDisposableStack()
  const server = stack.use(
    await Component.start({
      name: metricsProgram,
      program: await binary(metricsProgram),
      args: [
        `--kubeconfig=${kubeconfig}`,
        `--authentication-kubeconfig=${kubeconfig}`,
        `--authorization-kubeconfig=${kubeconfig}`,
        `--bind-address=${hostAddress}`,
        `--secure-port=${port}`,
        `--cert-dir=${directory}`,
        `--kubelet-certificate-authority=${authority}`,
        "--kubelet-preferred-address-types=InternalIP",
        // The shortest.
        "--metric-resolution=10s",
        "--kubelet-request-timeout=9s",
      ],
      logFile: path.join(directory, `${metricsProgram}.log`),
    }),
  )
  await client.create(services, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: metricsProgram, namespace },
    spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
  } as KubeObject)
  await client.create(endpointSlices, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: metricsProgram, namespace, labels: { "kubernetes.io/service-name": metricsProgram } },
    addressType: "IPv4",
    ports: [{ name: "https", port }],
    endpoints: [{ addresses: [hostAddress] }],
  } as KubeObject)
  await client.create(apiServices, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${groupVersion.version}.${groupVersion.group}` },
    spec: {
      ...groupVersion,
      service: { name: metricsProgram, namespace },
      groupPriorityMinimum: 100,
      versionPriority: 100,
      // Its certificate is its own.
      insecureSkipTLSVerify: true,
    },
  } as KubeObject)
  await server.ready(async () => (await client.list(usage)).items.length === nodes)
  return stack.move()
}
