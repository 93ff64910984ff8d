// Tests that stand beside real Kubernetes: `npm run test:kubernetes [-- path]`. What they need is built by
// `npm run kubernetes:build`; a suite whose needs are absent is skipped with a line that says so.

import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/kubernetes/**/*.test.ts"],
    setupFiles: ["test/kubernetes/harness/keep-logs.ts"],
    pool: "forks",
    // Each file starts real servers of its own.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
})
