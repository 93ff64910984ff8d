// The process of one worker of `polyplane up --workers`. As cli/main.ts: what is large is loaded after this.

import "../runtime.ts"

const { runWorker } = await import("./worker-process.ts")
runWorker()
