// The components to build: parts, each a Go module in modules/ that pins the programs by version and hash (go.mod, go.sum).
// Modules are separate if the dependencies of one would change the versions with which another was released.

import path from "node:path"
import { fileURLToPath } from "node:url"
import { kubernetesVersion } from "./cache.ts"

export interface Program {
  /** The program's file in the cache. */
  name: string
  /** The Go package it is built from. */
  package: string
  /**
   * The upstream module that contains it; its version determines whether a built program is up to date. For a program of our own,
   * the module in modules/ with its source, whose file times determine that.
   */
  module: string
  /** Built by `go test -c`. */
  isTest?: boolean
  tags?: string
}

export interface Part {
  name: string
  folder: string
  programs: readonly Program[]
}

const kubernetes = "k8s.io/kubernetes"
const containerd = "github.com/containerd/containerd/v2"
const gatekeeper = "github.com/open-policy-agent/gatekeeper/v3"
const kro = "github.com/kubernetes-sigs/kro"
const metricsServer = "sigs.k8s.io/metrics-server"

const component = (name: string): Program => ({
  name,
  package: `${kubernetes}/cmd/${name}`,
  module: kubernetes,
})

const containerdProgram = (name: string): Program => ({
  name,
  package: `${containerd}/cmd/${name}`,
  module: containerd,
  tags: "no_btrfs no_zfs no_devmapper",
})

function part(name: string, programs: readonly Program[]): Part {
  return { name, programs, folder: fileURLToPath(new URL(path.posix.join("../modules", name), import.meta.url)) }
}

/** Test suites of a module that need an API server, named after the module and the package. */
function suites(module: string, packages: readonly string[]): Program[] {
  return packages.map((name) => ({
    name: `${path.posix.join(path.posix.basename(module), name).replaceAll("/", "-")}.test`,
    package: path.posix.join(module, name),
    module,
    isTest: true,
  }))
}

/** The module name in go.mod of a module in modules/. */
export function ownModule(name: string): string {
  return `polyplane.example/${name}`
}

/** In the order in which they are needed: the first two suffice for an API server. */
export const parts: readonly Part[] = [
  part("etcd", [{ name: "etcd", package: "go.etcd.io/etcd/server/v3", module: "go.etcd.io/etcd/server/v3" }]),
  part(
    "kubernetes",
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet", "kube-proxy"].map(component),
  ),
  part("kwok", [{ name: "kwok", package: "sigs.k8s.io/kwok/cmd/kwok", module: "sigs.k8s.io/kwok" }]),
  part("e2e", [
    { name: "e2e.test", package: `${kubernetes}/test/e2e`, module: kubernetes, isTest: true },
    // The suite and its command line must have the same version.
    { name: "ginkgo", package: "github.com/onsi/ginkgo/v2/ginkgo", module: "github.com/onsi/ginkgo/v2" },
    ...["agnhost", "resource-consumer", "resource-consumer/consume-cpu"].map((image) => ({
      name: path.posix.basename(image),
      package: `${kubernetes}/test/images/${image}`,
      module: kubernetes,
    })),
    { name: "sample-apiserver", package: "k8s.io/sample-apiserver", module: "k8s.io/sample-apiserver" },
  ]),
  part("containerd", ["containerd", "ctr", "containerd-shim-runc-v2"].map(containerdProgram)),
  part(
    "clients",
    ["client-go", "controller-runtime"].map((name) => ({
      name: `${name}-program`,
      package: `./${name}`,
      module: ownModule("clients"),
    })),
  ),
  ...["3", "4"].map((major) =>
    part(`helm-${major}`, [
      { name: `helm-${major}`, package: `helm.sh/helm/v${major}/cmd/helm`, module: `helm.sh/helm/v${major}` },
    ]),
  ),
  part(
    "controller-runtime",
    suites("sigs.k8s.io/controller-runtime", [
      "pkg/cache",
      "pkg/client",
      "pkg/envtest",
      "pkg/internal/controller",
      "pkg/manager",
      "pkg/webhook",
    ]),
  ),
  part("flux-ssa", suites("github.com/fluxcd/pkg/ssa", [""])),
  part(
    "gateway-api",
    suites("sigs.k8s.io/gateway-api", ["pkg/test/cel"]).map((suite) => ({ ...suite, tags: "experimental" })),
  ),
  part("operators", [
    { name: "cert-manager", package: "./certificates", module: ownModule("operators") },
    { name: "gatekeeper", package: gatekeeper, module: gatekeeper },
    { name: "kro", package: `${kro}/cmd/controller`, module: kro },
    { name: "metrics-server", package: `${metricsServer}/cmd/metrics-server`, module: metricsServer },
  ]),
  part("coredns", [{ name: "coredns", package: "github.com/coredns/coredns", module: "github.com/coredns/coredns" }]),
]

/** The flags that print a program's version. */
export function versionFlags(): string {
  const [major = "", minor = ""] = kubernetesVersion.slice(1).split(".")
  const values = { gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor, gitTreeState: "clean" }
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(" ")
}
