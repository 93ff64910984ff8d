import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    exclude: ["node_modules/**", "test/kubernetes/**"],
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
