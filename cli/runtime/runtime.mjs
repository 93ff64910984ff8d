// Configures Node and V8 for a process with many small tenants. Imported before everything else; large modules are loaded after
// it. It and its imports are plain JavaScript: a TypeScript file loaded before the compile cache is enabled would load Node's
// compiler (50 ms).

import "./allocator.mjs"
import "./thread-pool.mjs"
import "./buffer-pool.mjs"
import "./http-module.mjs"
import "./memory-at-rest.mjs"
import "./young-objects.mjs"
import "./module-loading.mjs"
