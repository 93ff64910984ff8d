// Imported before everything else: libuv reads the size once, when the pool is first used, and ES modules are evaluated in the
// order of their imports. The pool executes every store's reads and writes; with the default of 4, four slow flushes block all
// others.

process.env["UV_THREADPOOL_SIZE"] ??= "16"
