// The process of one worker of `polyplane up --workers`. As cli/polyplane.mjs: what is large is loaded after the runtime.

import "../runtime.mjs"

const { runWorker } = await import("./worker-process.ts")
runWorker()
