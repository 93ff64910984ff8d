// The process of one worker of `polyplane up --workers`. As cli/main.ts: what is large is loaded after this.

import "../thread-pool.ts"
import "../buffer-pool.ts"
import "../memory-at-rest.ts"
import "../compile-cache.ts"

const { runWorker } = await import("./worker-process.ts")
runWorker()
