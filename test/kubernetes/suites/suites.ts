// Which suites are run, and of each what is left out, for what reason.

export interface Suite {
  /** Of build/parts.ts. */
  program: string
  /** What its tests are written with; `go`: the testing package alone. */
  written: "ginkgo" | "go"
  /** Applied before it: a folder of its module with a kustomization. */
  manifests?: string
  /** By the name of a test, or the first words of several. */
  leftOut?: Readonly<Record<string, string>>
}

const others = "the same specs as of the other caches"

/** Those that take long come first. */
export const suites: readonly Suite[] = [
  { program: "controller-runtime-pkg-manager.test", written: "ginkgo" },
  {
    program: "controller-runtime-pkg-cache.test",
    written: "ginkgo",
    leftOut: {
      "Informer Cache without global DeepCopy": others,
      "Multi-Namespace Informer Cache": others,
      "Cache with selectors Should list serviceaccounts and find exactly one in namespace test-namespace-1":
        "it counts service accounts, and a controller makes one in every namespace",
    },
  },
  { program: "ssa.test", written: "go" },
  { program: "controller-runtime-pkg-client.test", written: "ginkgo" },
  {
    program: "gateway-api-pkg-test-cel.test",
    written: "go",
    manifests: "config/crd/experimental",
    leftOut: {
      "TestHTTPRouteTimeouts/invalid_timeout_request_200ms_less_than_backendRequest_1s":
        "it wants a message in words that kube-apiserver 1.36 has no more",
    },
  },
  { program: "controller-runtime-pkg-internal-controller.test", written: "ginkgo" },
  { program: "controller-runtime-pkg-envtest.test", written: "ginkgo" },
  { program: "controller-runtime-pkg-webhook.test", written: "ginkgo" },
]
