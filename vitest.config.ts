import { defineConfig } from "vitest/config"
import { programsOfGo } from "./test/harness/environment.ts"

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "test/kubernetes/**", "test/disk/**"],
    pool: "forks",
    env: programsOfGo,
    // By itself it would leave one processor to whoever watches, which is half of two.
    maxWorkers: "100%",
    // As long as a machine that is busy with something else may take: only what never happens fails for time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
  },
})
