// The process of one worker of `polyplane up --workers`. As in cli/polyplane.mjs, large modules are loaded after the runtime.

import "../runtime/runtime.mjs"

const { runWorker } = await import("./worker-process.ts")
runWorker()
