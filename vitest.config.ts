import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { defineConfig } from "vitest/config"
import { programsOfGo } from "./test/harness/environment.ts"

const all = "**/*.test.ts"
const exclude = ["node_modules/**", "test/kubernetes/**", "test/disk/**"]
const isAlone = (file: string): boolean =>
  /vi\.mock\(|memoryUsage\(|getTimerCount\(/.test(readFileSync(path.join(import.meta.dirname, file), "utf8"))
/**
 * Files with processes of their own: they replace modules, measure the memory of their process or count its timers, or start programs, of which
 * none may outlive its file.
 */
const alone = [...globSync(all, { cwd: import.meta.dirname, exclude }).filter(isAlone), "test/e2e/**/*.test.ts"]

export default defineConfig({
  test: {
    pool: "forks",
    env: programsOfGo,
    // By itself it would leave one processor to whoever watches, which is half of two.
    maxWorkers: "100%",
    // As long as a machine that is busy with something else may take: only what never happens fails for time.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000, interval: 5 } },
    projects: [
      { extends: true, test: { name: "alone", include: alone, exclude } },
      // The others share a process per processor, and what modules keep there: to load the facts about all kinds takes most of the
      // time of many files.
      { extends: true, test: { name: "together", include: [all], exclude: [...exclude, ...alone], isolate: false } },
    ],
  },
})
