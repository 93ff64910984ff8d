// Tests that stand beside real Kubernetes: `npm run test:kubernetes [-- path]`. What they need is built by
// `npm run kubernetes:build`; a suite whose needs are absent is skipped with a line that says so.

import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { programsOfGo } from "./test/harness/environment.ts"

// Three files run at a time, so that there is something to compute while others wait. Most files mostly wait; they come first, beside
// the longest of those that compute in each project. The others that compute come last, side by side.
const first = [
  "differential/differential",
  "kubectl/day",
  "suites/suites",
  "controllers/own-nodes",
  "operators/operators",
  "real-node-main-job",
  "etcd/leader-failure",
  "clients/clients",
  "manifests",
  "controllers/restarted",
  "super-cluster/replicas",
  "super-cluster/restored",
  "super-cluster/faults",
  "differential/kept-objects",
  "unmodified-controllers",
  "main-job",
  "etcd/store",
  "controllers/measured",
  "controllers/aggregated-api",
  "aggregated/aggregated",
]
const last = ["controllers/controllers", "test-cmd/test-cmd", "kubectl/custom"]

class Ordered extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => placeOf(a) - placeOf(b) || a.moduleId.localeCompare(b.moduleId))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const isNamed = (name: string): boolean => moduleId.endsWith(`/test/kubernetes/${name}.test.ts`)
  const [before, after] = [first.findIndex(isNamed), last.findIndex(isNamed)]
  return before >= 0 ? before - first.length : after + 1
}

/** What the parts `etcd`, `kubernetes` and `kwok` of the build suffice for. */
const comparison = [
  "{differential,etcd,harness,build,super-cluster}/**/*",
  "controllers/!(aggregated-api)",
  "main-job",
  "unmodified-controllers",
].map((name) => `test/kubernetes/${name}.test.ts`)

export default defineConfig({
  test: {
    projects: [
      // Files share processes, and the modules that those have loaded.
      { extends: true, test: { name: "comparison", include: comparison, isolate: false } },
      // Needs programs of others, or nodes that run containers.
      { extends: true, test: { name: "field", include: ["test/kubernetes/**/*.test.ts"], exclude: comparison } },
    ],
    setupFiles: ["test/kubernetes/harness/keep-logs.ts"],
    pool: "forks",
    env: programsOfGo,
    tags: [
      { name: "independent", description: "needs no other test of its file: if it fails, it alone runs once more" },
    ],
    // Each file starts real servers of its own.
    maxWorkers: 3,
    sequence: { sequencer: Ordered },
    testTimeout: 120_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
})
