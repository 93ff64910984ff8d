// The configuration files of a node's programs, as name → content; they are in the node's /run/kubernetes, beside the keys.

import { stringify } from "yaml"
import { cniDirectory } from "./machine.ts"
import type { ClusterKeys } from "./certificates.ts"
import { clusterDomain, nodeName, podRange, ranges, registryPort, type Network } from "./layout.ts"

const runDirectory = "/run/kubernetes"
const containerdSocket = "/run/containerd/containerd.sock"
export const pauseImage = "registry.k8s.io/pause:3.10.2"

export function nodeFiles(number: number, network: Network, keys: ClusterKeys): Map<string, string> {
  const node = nodeName(number)
  const kubelet = keys.kubelets.get(node)
  if (kubelet === undefined) throw new Error(`${node} has no certificate`)
  const files = new Map<string, string>([
    ["containerd.toml", containerd],
    ["registry/_default/hosts.toml", hosts(`http://${network.registry}:${registryPort}`)],
    ["cni/10-pods.conflist", JSON.stringify(podNetwork(number))],
    ["kubelet.yaml", stringify(kubeletConfiguration)],
    ["kube-proxy.yaml", stringify(kubeProxyConfiguration)],
    // For pods with dnsPolicy Default. Nothing outside is reachable, so no DNS server is used.
    ["resolv.conf", "nameserver 127.0.0.1\n"],
    ["ca.crt", keys.authority.certificate],
    ["kubelet.crt", kubelet.certificate],
    ["kubelet.key", kubelet.key],
    ["kubelet.kubeconfig", keys.kubeconfig(`kubelet-${node}`)],
    ["kube-proxy.kubeconfig", keys.kubeconfig("kube-proxy")],
  ])
  return files
}

/** For the node that runs the control plane. */
export function controlPlaneFiles(keys: ClusterKeys, printed: { authorityKey: string }): Map<string, string> {
  return new Map<string, string>([
    ["ca.key", printed.authorityKey],
    ["apiserver.crt", keys.apiServer.certificate],
    ["apiserver.key", keys.apiServer.key],
    ["kubelet-client.crt", keys.kubeletClient.certificate],
    ["kubelet-client.key", keys.kubeletClient.key],
    ["front-proxy-ca.crt", keys.frontProxyAuthority.certificate],
    ["front-proxy-client.crt", keys.frontProxyClient.certificate],
    ["front-proxy-client.key", keys.frontProxyClient.key],
    ["service-account.key", keys.serviceAccountKey],
    ["kube-controller-manager.kubeconfig", keys.kubeconfig("kube-controller-manager")],
    ["kube-scheduler.kubeconfig", keys.kubeconfig("kube-scheduler")],
  ])
}

// restrict_oom_score_adj: without it containers fail if CAP_SYS_RESOURCE is missing, since runc may not lower the score ("can't
// get final child's PID from pipe: EOF").
const containerd = `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"

[grpc]
  address = "${containerdSocket}"

[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  pinned_images.sandbox = "${pauseImage}"
  registry.config_path = "${runDirectory}/registry"

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  cni.bin_dirs = ["${cniDirectory}"]
  cni.conf_dir = "${runDirectory}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    options.SystemdCgroup = false
`

const hosts = (registry: string): string => `server = "${registry}"

[host."${registry}"]
  capabilities = ["pull", "resolve"]
`

// Without ipMasq, which would hide a pod's address from pods of other nodes; node.sh masquerades traffic that leaves the pods'
// range.
const podNetwork = (number: number): unknown => ({
  cniVersion: "1.0.0",
  name: "pods",
  plugins: [
    {
      type: "bridge",
      bridge: "pods0",
      isGateway: true,
      ipMasq: false,
      hairpinMode: true,
      ipam: { type: "host-local", ranges: [[{ subnet: podRange(number) }]], routes: [{ dst: "0.0.0.0/0" }] },
    },
    { type: "portmap", capabilities: { portMappings: true } },
  ],
})

export const kubeletConfiguration = {
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  // Since 1.35 the kubelet refuses cgroup v1 by default.
  failCgroupV1: false,
  cgroupDriver: "cgroupfs",
  cgroupRoot: "/",
  containerRuntimeEndpoint: `unix://${containerdSocket}`,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: `${runDirectory}/ca.crt` },
  },
  authorization: { mode: "Webhook" },
  tlsCertFile: `${runDirectory}/kubelet.crt`,
  tlsPrivateKeyFile: `${runDirectory}/kubelet.key`,
  clusterDNS: [ranges.dns],
  clusterDomain,
  resolvConf: `${runDirectory}/resolv.conf`,
  failSwapOn: false,
  serializeImagePulls: false,
  // The disk is shared with the machine, so its usage says nothing about images, and images must never be removed because of it.
  imageGCHighThresholdPercent: 100,
  evictionHard: {
    "memory.available": "100Mi",
    "nodefs.available": "1%",
    "nodefs.inodesFree": "1%",
    "imagefs.available": "1%",
  },
  volumePluginDir: "/var/lib/kubelet/volume-plugins",
}

const kubeProxyConfiguration = {
  apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
  kind: "KubeProxyConfiguration",
  mode: "nftables",
  clusterCIDR: ranges.pods,
  clientConnection: { kubeconfig: `${runDirectory}/kube-proxy.kubeconfig` },
  // Does not change connection tracking settings: they cannot be written from a network namespace.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
}
