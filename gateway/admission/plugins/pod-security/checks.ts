// The checks of each level by version of Kubernetes: a namespace may select those of an older version. Source:
// k8s.io/pod-security-admission/policy (registry.go, and the versions in each check_*.go).

import * as baseline from "./baseline.ts"
import type { LevelVersion } from "./policy.ts"
import * as restricted from "./restricted.ts"
import { type Check, type CheckedPod, type Fault, hasOwnUsers } from "./words.ts"

interface Versioned {
  /** The minor version from which on it applies, until the next one. */
  since: number
  check: Check
}

interface CheckOfLevel {
  id: string
  /** The baseline check that this one replaces. */
  overrides?: string
  versions: readonly Versioned[]
}

const unlessOwnUsers =
  (check: Check): Check =>
  (pod) =>
    hasOwnUsers(pod) ? undefined : check(pod)

const seLinuxTypes = ["container_t", "container_init_t", "container_kvm_t"]
const safeSysctls = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
]
const sysctlsOf27 = [...safeSysctls, "net.ipv4.ip_local_reserved_ports"]
const sysctlsOf29 = [
  ...sysctlsOf27,
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
]
const sysctlsOf32 = [...sysctlsOf29, "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"]

/** By id, which determines the order of errors: those of baseline come first. */
const baselineChecks: readonly CheckOfLevel[] = [
  { id: "appArmorProfile", versions: [{ since: 0, check: baseline.appArmorProfile }] },
  { id: "capabilities_baseline", versions: [{ since: 0, check: baseline.capabilities }] },
  { id: "hostNamespaces", versions: [{ since: 0, check: baseline.hostNamespaces }] },
  { id: "hostPathVolumes", versions: [{ since: 0, check: baseline.hostPathVolumes }] },
  { id: "hostPorts", versions: [{ since: 0, check: baseline.hostPorts }] },
  { id: "hostProbesAndHostLifecycle", versions: [{ since: 34, check: baseline.hostsOfProbes }] },
  { id: "privileged", versions: [{ since: 0, check: baseline.privileged }] },
  {
    id: "procMount",
    versions: [
      { since: 0, check: baseline.procMount },
      { since: 35, check: unlessOwnUsers(baseline.procMount) },
    ],
  },
  {
    id: "seLinuxOptions",
    versions: [
      { since: 0, check: baseline.seLinuxOptions(seLinuxTypes) },
      { since: 31, check: baseline.seLinuxOptions([...seLinuxTypes, "container_engine_t"]) },
    ],
  },
  {
    id: "seccompProfile_baseline",
    versions: [
      { since: 0, check: baseline.seccompAnnotations },
      { since: 19, check: baseline.seccompProfile },
    ],
  },
  {
    id: "sysctls",
    versions: [
      { since: 0, check: baseline.sysctls(safeSysctls) },
      { since: 27, check: baseline.sysctls(sysctlsOf27) },
      { since: 29, check: baseline.sysctls(sysctlsOf29) },
      { since: 32, check: baseline.sysctls(sysctlsOf32) },
    ],
  },
  { id: "windowsHostProcess", versions: [{ since: 0, check: baseline.windowsHostProcess }] },
]

const restrictedChecks: readonly CheckOfLevel[] = [
  {
    id: "allowPrivilegeEscalation",
    versions: [
      { since: 8, check: restricted.allowPrivilegeEscalation },
      { since: 25, check: restricted.unlessWindows(restricted.allowPrivilegeEscalation) },
    ],
  },
  {
    id: "capabilities_restricted",
    overrides: "capabilities_baseline",
    versions: [
      { since: 22, check: restricted.droppedCapabilities },
      { since: 25, check: restricted.unlessWindows(restricted.droppedCapabilities) },
    ],
  },
  { id: "procMount_restricted", overrides: "procMount", versions: [{ since: 35, check: baseline.procMount }] },
  {
    id: "restrictedVolumes",
    overrides: "hostPathVolumes",
    versions: [{ since: 0, check: restricted.restrictedVolumes }],
  },
  {
    id: "runAsNonRoot",
    versions: [
      { since: 0, check: restricted.runAsNonRoot },
      { since: 35, check: unlessOwnUsers(restricted.runAsNonRoot) },
    ],
  },
  {
    id: "runAsUser",
    versions: [
      { since: 23, check: restricted.runAsUser },
      { since: 35, check: unlessOwnUsers(restricted.runAsUser) },
    ],
  },
  {
    id: "seccompProfile_restricted",
    overrides: "seccompProfile_baseline",
    versions: [
      { since: 19, check: restricted.givenSeccompProfile },
      { since: 25, check: restricted.unlessWindows(restricted.givenSeccompProfile) },
    ],
  },
]

/** All violations of the pod, in upstream's order. */
export function faultsOf(pod: CheckedPod, { level, version }: LevelVersion): Fault[] {
  if (level === "privileged") return []
  const minor = version === "latest" ? Infinity : version
  const stricter = level === "restricted" ? restrictedChecks.filter((check) => checkIn(check, minor) !== undefined) : []
  const overridden = new Set(stricter.map(({ overrides }) => overrides))
  const checks = [...baselineChecks.filter(({ id }) => !overridden.has(id)), ...stricter]
  return checks.map((check) => checkIn(check, minor)?.(pod)).filter((fault) => fault !== undefined)
}

function checkIn({ versions }: CheckOfLevel, minor: number): Check | undefined {
  return versions.findLast(({ since }) => since <= minor)?.check
}
