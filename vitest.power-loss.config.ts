// What is on the disk after power is lost: `npm run test:power-loss`. Needs strace; without it the suite is skipped with a line
// that says so.

import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/power-loss/**/*.test.ts"],
    pool: "forks",
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
})
