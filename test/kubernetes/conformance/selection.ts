// Selects from the specs of the upstream test binary: the whole conformance suite, or of all other specs those that need only a
// cluster like the one the tests start. The reasons for excluding the others are defined here and printed in the report.

export interface Selection {
  /** In ginkgo's label filter syntax. */
  labels: string
  /** Number of specs in this Kubernetes version. It is the denominator, however many were run. */
  specs: number
  notAsked: readonly Rule[]
  /** Reasons for failures that are intended. */
  explained: readonly Rule[]
  /** Whether specs need the metrics API. */
  resourceMetrics: boolean
  /** A run ends after it, unless told otherwise. */
  limitMinutes: number
  /** In docs/. */
  report: string
}

interface Rule {
  reason: string
  /** Matches the full name, which includes the labels. Ginkgo reads it too, so use only syntax that JavaScript and RE2 share. */
  pattern: string
}

/** The first matching rule gives the reason. */
const notAsked: readonly Rule[] = [
  {
    reason: "tests an alpha feature, or one that is disabled by default",
    pattern: String.raw`\[Alpha\]|OffByDefault|StorageVersionAPI`,
  },
  { reason: "needs Windows nodes", pattern: String.raw`\[sig-windows\]|\[Feature:Windows` },
  {
    reason: "stops nodes or control plane components, which do not belong to a tenant",
    pattern: String.raw`\[Disruptive\]|Upgrade\]|Downgrade\]|BoundServiceAccountTokenVolume\]`,
  },
  {
    reason: "needs a cloud provider: disks, load balancers, node groups",
    pattern: String.raw`\[sig-cloud-provider|\[Driver: (?:pd\.csi|azure|cinder|vsphere)|\[Feature:(?:LoadBalancer|ClusterSizeAutoscaling|ClusterScaleUp|GKE|KubeDNSAutoscaler)|[tT]ype LoadBalancer`,
  },
  { reason: "marked as flaky by upstream", pattern: String.raw`\[Flaky\]` },
  {
    // But those of sig-autoscaling: it cannot be seen in less than a few minutes.
    reason: "marked as slow by upstream: takes many minutes",
    pattern: String.raw`\[sig-(?:[^a]|a[^u]|auth\]).*\[Slow\]`,
  },
  {
    reason: "needs images that cannot be built from Go modules or Debian packages: storage drivers, databases",
    pattern: String.raw`\[Driver: (?:csi-hostpath|nfs|iscsi)|\] CSI |csi-hostpath|NFS|\[Feature:(?:Flexvolumes|snapshotmetadata|volumegroupsnapshot|StatefulSet|Example|NodeProblemDetector|KubeletCredentialProviders|Networking-Performance)|Flexvolumes|MutableCSINode|AppArmor|conntrack state bug|CLOSE_WAIT`,
  },
  {
    reason:
      "needs devices, kernel modules or file systems that the nodes lack: SCTP, SELinux, GPUs, LVM, XFS, loop and dummy devices",
    pattern: String.raw`SCTP|SELinux|\[Feature:(?:GPU|VolumeSourceXFS|KubeProxyNFAcct|HugePages|DownwardAPIHugePages)|gce-localssd|loopback local block|should enable privileged commands`,
  },
  {
    reason: "needs device drivers on the nodes",
    pattern: String.raw`\[DRA\] (?:kubelet|control plane|\[Feature)`,
  },
  {
    reason:
      "needs controllers that kube-controller-manager does not start by default, and objects that kubeadm creates",
    pattern: String.raw`\[Feature:BootstrapTokens\]`,
  },
  {
    reason: "needs a program that the locally built images lack: printenv",
    pattern: "should handle in-cluster config",
  },
  { reason: "needs nodes in several zones", pattern: "Multi-AZ" },
  { reason: "needs IPv6: the nodes have IPv4 only", pattern: String.raw`IPv6` },
  {
    reason: "needs network policies, which the nodes' network does not enforce",
    pattern: String.raw`\[Feature:NetworkPolicy\]`,
  },
  {
    reason: "needs access to networks outside the cluster",
    pattern: String.raw`\[Feature:Networking-|private registry|private image`,
  },
  { reason: "needs a shell on the nodes", pattern: String.raw`SSH|crictl|\[Feature:(?:NodeLogQuery|KubeletSecurity)` },
  {
    reason: "measures performance",
    pattern: String.raw`\[Feature:(?:PerformanceDNS|\w*ResourceUsageTracking)`,
  },
  {
    reason:
      "needs volumes that the tenant creates itself: the super cluster provides the storage, so no node mounts them",
    pattern: String.raw`\[Driver: local\]|PersistentVolumes-local|when PVC has node-affinity`,
  },
  {
    reason: "skipped by the suite itself: its own driver does not support the volume type or file system",
    pattern: String.raw`\[Driver: (?:hostPath|hostPathSymlink|emptydir)\].*(?:Dynamic PV|Ephemeral-volume|Pre-provisioned|\((?:ext\d|xfs|ntfs)\))`,
  },
  {
    reason: "looks up a pod's cgroup by its UID, but on the nodes the UID is that of the super cluster's pod",
    pattern: "PLR Pod InPlace Resize",
  },
  {
    reason: "reads OOM scores, which these nodes are not allowed to lower",
    pattern: "Pod InPlace Resize Container guaranteed qos",
  },
  {
    reason: "needs a runtime handler that the nodes lack",
    pattern: "requesting a RuntimeClass with (?:a configured handler|scheduling)",
  },
  {
    reason: "needs user namespaces for pods, which the nodes lack",
    pattern: String.raw`\[Feature:UserNamespacesSupport\]`,
  },
  { reason: "needs cgroup v2: the nodes have cgroup v1", pattern: String.raw`Pod Level Resources \[Serial\]` },
  { reason: "reads metrics of kubelets and of kube-controller-manager", pattern: "Volume metrics" },
]

const explained: readonly Rule[] = [
  {
    reason: "a node's logs, metrics and configuration cover the pods of all tenants, so no tenant may read them",
    pattern: String.raw`proxy logs on node|MetricsGrabber.*Kubelet|Delete Grace Period should be submitted and removed|PreStop graceful pod terminated|kubelet Clean up pods on node|ContainerTerminationMetrics|Metrics should grab all metrics from kubelet|KubeletFineGrainedAuthz`,
  },
  {
    reason: "the super cluster allocates Service addresses: a ServiceCIDR that a tenant adds has no effect there",
    pattern: "Service CIDRs should create Services",
  },
  {
    reason: "no kubelet renews leases in a tenant: the state of its nodes comes from the super cluster",
    pattern: String.raw`\] NodeLease`,
  },
  {
    reason: "labels that a tenant sets on nodes cannot be topology keys (docs/decisions/0017)",
    pattern: "PodTopologySpread (?:Filtering|Preemption)",
  },
  {
    reason: "preemption within a tenant is not asynchronous: it handles one pod after another (docs/decisions/0016)",
    pattern: "preempt expectedly with the async preemption",
  },
  {
    reason:
      "a node grants deferred resizes in the order of priorities, and those of a tenant do not reach the node (docs/decisions/0016)",
    pattern: "pod-resize-retry-deferred-test-2",
  },
  {
    reason:
      "a pod's token is a Secret in the super cluster, whose files kubelets create as root and readable by every user of the pod",
    pattern: "should set ownership and permission when RunAsUser or FsGroup is present",
  },
  {
    reason: "treats the server URL as a host name, but the URL of a tenant has a path",
    pattern: "should support exec through an HTTP proxy",
  },
  {
    reason: "expects health checks that are named after internal parts of kube-apiserver",
    pattern: "health handlers should contain necessary checks",
  },
]

export const conformance: Selection = {
  labels: "Conformance",
  specs: 446,
  notAsked: [],
  explained: [],
  resourceMetrics: false,
  limitMinutes: 90,
  report: "conformance.md",
}

export const beyondConformance: Selection = {
  labels: "!Conformance",
  specs: 7133,
  notAsked,
  explained,
  resourceMetrics: true,
  limitMinutes: 300,
  report: "beyond-conformance.md",
}

/** The reason of the first rule that matches `name`, if any. */
export function reasonOf(rules: readonly Rule[], name: string): string | undefined {
  return rules.find(({ pattern }) => new RegExp(pattern).test(name))?.reason
}
