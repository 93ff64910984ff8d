// Node and V8 as a process of many small tenants wants them. Imported before everything else: what is large is loaded after it.
// Plain JavaScript, as what it imports: one TypeScript file before compiled code is kept, and Node loads its compiler (50 ms).

import "./allocator.mjs"
import "./thread-pool.mjs"
import "./buffer-pool.mjs"
import "./memory-at-rest.mjs"
import "./young-objects.mjs"
import "./module-loading.mjs"
