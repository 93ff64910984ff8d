// Which of the thousands of specs in the upstream binary a tenant is asked to pass: the conformance suite whole, or of all others
// those that need nothing but a cluster as this one. Why the rest is not asked stands here and in the report.

export interface Selection {
  /** In ginkgo's language of label filters. */
  labels: string
  /** How many there are in this Kubernetes version: the denominator, whatever was run. */
  specs: number
  notAsked: readonly Rule[]
  /** Why some do not pass, where that is meant so. */
  explained: readonly Rule[]
  /** In docs/. */
  report: string
}

export interface Rule {
  reason: string
  /** Of a whole name, in which the suite repeats the labels. ginkgo reads it too: the syntax that JavaScript and RE2 share. */
  pattern: string
}

/** Of the first that fits, the reason is said. */
const notAsked: readonly Rule[] = [
  {
    reason: "an alpha feature, or one that is off by default",
    pattern: String.raw`\[Alpha\]|OffByDefault|StorageVersionAPI`,
  },
  { reason: "about Windows nodes", pattern: String.raw`\[sig-windows\]|\[Feature:Windows` },
  {
    reason: "ends nodes or parts of the control plane, which are not a tenant's",
    pattern: String.raw`\[Disruptive\]|Upgrade\]|Downgrade\]|BoundServiceAccountTokenVolume\]`,
  },
  {
    reason: "about one cloud, or what it offers: disks, load balancers, node groups",
    pattern: String.raw`\[sig-cloud-provider|\[Driver: (?:pd\.csi|azure|cinder|vsphere)|\[Feature:(?:LoadBalancer|ClusterSizeAutoscaling|ClusterScaleUp|GKE|KubeDNSAutoscaler)|[tT]ype LoadBalancer`,
  },
  { reason: "upstream calls it flaky", pattern: String.raw`\[Flaky\]` },
  { reason: "takes many minutes", pattern: String.raw`\[Slow\]` },
  {
    reason:
      "needs images that are made of neither Go modules nor Debian packages: drivers for storage, databases, load",
    pattern: String.raw`\[Driver: (?:csi-hostpath|nfs|iscsi)|\] CSI |csi-hostpath|NFS|\[Feature:(?:HPA|Flexvolumes|snapshotmetadata|volumegroupsnapshot|StatefulSet|Example|NodeProblemDetector|KubeletCredentialProviders|Networking-Performance)|Flexvolumes|MutableCSINode|AppArmor|conntrack state bug|CLOSE_WAIT`,
  },
  {
    reason:
      "needs devices, kernel modules or file systems the nodes do not have: SCTP, SELinux, GPUs, LVM, XFS, loop and dummy devices",
    pattern: String.raw`SCTP|SELinux|\[Feature:(?:GPU|VolumeSourceXFS|KubeProxyNFAcct|HugePages|DownwardAPIHugePages)|gce-localssd|loopback local block|should enable privileged commands`,
  },
  {
    reason: "needs drivers for devices on the nodes",
    pattern: String.raw`\[DRA\] (?:kubelet|control plane|\[Feature)`,
  },
  {
    reason:
      "needs controllers that kube-controller-manager does not start by itself, and what kubeadm puts into a cluster",
    pattern: String.raw`\[Feature:BootstrapTokens\]`,
  },
  {
    reason: "needs a program that the images made here do not have: printenv",
    pattern: "should handle in-cluster config",
  },
  { reason: "needs nodes in several zones", pattern: "Multi-AZ" },
  { reason: "the nodes have IPv4 only", pattern: String.raw`IPv6` },
  { reason: "the nodes' network enforces no policies", pattern: String.raw`\[Feature:NetworkPolicy\]` },
  { reason: "leads out of the cluster", pattern: String.raw`\[Feature:Networking-|private registry|private image` },
  { reason: "needs a shell on the nodes", pattern: String.raw`SSH|crictl|\[Feature:(?:NodeLogQuery|KubeletSecurity)` },
  {
    reason: "a measurement, not a promise",
    pattern: String.raw`\[Feature:(?:PerformanceDNS|\w*ResourceUsageTracking)`,
  },
  {
    reason: "about volumes a tenant makes itself, which are on no node: storage is the super cluster's",
    pattern: String.raw`\[Driver: local\]|PersistentVolumes-local|when PVC has node-affinity`,
  },
  {
    reason: "a kind of volume, or a file system, that the suite's own driver does not make: they skip themselves",
    pattern: String.raw`\[Driver: (?:hostPath|hostPathSymlink|emptydir)\].*(?:Dynamic PV|Ephemeral-volume|Pre-provisioned|\((?:ext\d|xfs|ntfs)\))`,
  },
  {
    reason: "looks for a pod's cgroup by its UID, which on the nodes is that of the super cluster's pod",
    pattern: "PLR Pod InPlace Resize",
  },
  {
    reason: "reads oom scores, which these nodes may not lower",
    pattern: "Pod InPlace Resize Container guaranteed qos",
  },
  {
    reason: "needs a runtime's handler that the nodes do not have",
    pattern: "requesting a RuntimeClass with (?:a configured handler|scheduling)",
  },
  { reason: "the nodes have no user namespaces for pods", pattern: String.raw`\[Feature:UserNamespacesSupport\]` },
  { reason: "the nodes have cgroup v1", pattern: String.raw`Pod Level Resources \[Serial\]` },
  { reason: "reads metrics of kubelets and of kube-controller-manager", pattern: "Volume metrics" },
]

const explained: readonly Rule[] = [
  {
    reason: "a node's logs, metrics and configuration tell of all tenants' pods: none of them may read them",
    pattern: String.raw`proxy logs on node|MetricsGrabber.*Kubelet|Delete Grace Period should be submitted and removed|PreStop graceful pod terminated|kubelet Clean up pods on node|ContainerTerminationMetrics|Metrics should grab all metrics from kubelet|KubeletFineGrainedAuthz`,
  },
  {
    reason: "addresses of services are the super cluster's: what a tenant adds to them reaches nothing there",
    pattern: "Service CIDRs should create Services",
  },
  { reason: "no kubelet logs in to a tenant: its nodes are the super cluster's", pattern: "NodeAuthorizer" },
  {
    reason: "no kubelet renews leases in a tenant: what is known of its nodes comes from the super cluster",
    pattern: String.raw`\] NodeLease`,
  },
  {
    reason: "labels that a tenant puts on nodes are no topology keys (docs/decisions/0017)",
    pattern: "PodTopologySpread (?:Filtering|Preemption)",
  },
  {
    reason: "pods of a tenant make room one after the other (docs/decisions/0016)",
    pattern: "preempt expectedly with the async preemption",
  },
  {
    reason:
      "a pod's token is a Secret in the super cluster: kubelets give its files to root, readable by all in the pod",
    pattern: "should set ownership and permission when RunAsUser or FsGroup is present",
  },
  {
    reason: "takes the server's URL for a host name: a tenant's has a path",
    pattern: "should support exec through an HTTP proxy",
  },
  {
    reason: "asks for checks that are named after parts of kube-apiserver",
    pattern: "health handlers should contain necessary checks",
  },
]

export const conformance: Selection = {
  labels: "Conformance",
  specs: 446,
  notAsked: [],
  explained: [],
  report: "conformance.md",
}

export const beyondConformance: Selection = {
  labels: "!Conformance",
  specs: 7133,
  notAsked,
  explained,
  report: "beyond-conformance.md",
}

/** Why `name` is not asked, if one of `rules` says so. */
export function reasonOf(rules: readonly Rule[], name: string): string | undefined {
  return rules.find(({ pattern }) => new RegExp(pattern).test(name))?.reason
}
