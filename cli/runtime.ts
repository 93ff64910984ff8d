// Node and V8 as a process of many small tenants wants them. Imported before everything else: what is large is loaded after it.

import "./allocator.ts"
import "./thread-pool.ts"
import "./buffer-pool.ts"
import "./memory-at-rest.ts"
import "./compile-cache.ts"
