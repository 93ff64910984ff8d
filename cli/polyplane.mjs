#!/usr/bin/env -S node --max-semi-space-size=32
// The program `polyplane`: the runtime first, then the command line (main.ts).
//
// The flag above bounds each half of the young generation, in MiB. It grows that far under load and is given back at rest
// (memory-at-rest.mjs: the same 141 MiB with 10 idle tenants, whether 8 or 32). The larger, the less often what is still
// under way is copied: with 32 instead of 8 a deployment costs the controllers an eighth less.

import "./runtime.mjs"

await import("./main.ts")
