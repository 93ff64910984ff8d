// What a disk can do to a store: `npm run test:disk`. Losses of power need strace, a full disk needs root; without them each is
// skipped with a line that says so.

import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/disk/**/*.test.ts"],
    pool: "forks",
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
})
