// Imported before everything else: libuv reads the size once, when the first call needs the pool, and ES modules are
// evaluated in the order of their imports. Every store's reads and writes run in it; with the default of 4, four slow
// flushes hold up all others.

process.env["UV_THREADPOOL_SIZE"] ??= "16"
