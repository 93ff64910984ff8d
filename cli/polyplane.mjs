#!/usr/bin/env -S node --max-semi-space-size=32
// The program `polyplane`: loads the runtime first, then the command line (main.ts).
//
// The flag above limits each half of the young generation, in MiB. It grows to this size under load and is released at rest
// (memory-at-rest.mjs: the same memory with 10 idle tenants, with 8 or 32). The larger it is, the less often objects of requests
// in progress are copied: with 32 instead of 8, a deployment costs the controllers an eighth less.

import { whyTooOld } from "./node-version.mjs"

const problem = whyTooOld(process.version)
if (problem === undefined) {
  await import("./runtime/runtime.mjs")
  await import("./main.ts")
} else {
  process.stderr.write(problem)
  process.exitCode = 1
}
