// Imported before everything else. glibc's allocator reads its settings when a process begins, so one that has none begins anew
// with them, which takes 25 ms. Without them each thread of the pool has an arena of its own, with holes where LevelDB's buffers
// were (100 of 1,040 MiB with 10,000 tenants asleep); and the buffers of 64 KiB that every open store and TLS connection
// has lie among small things that stay, so that their memory is not given back (a tenth of the memory with 1,200 tenants).

const settings = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536" }

const isSet = Object.keys(settings).every((name) => process.env[name] !== undefined)
// Who has a channel to a parent would lose it, and has the parent's environment. Not all systems can begin anew.
if (process.platform === "linux" && !isSet && process.channel === undefined) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args, { ...settings, ...process.env })
}
