// Imported before everything else. glibc's allocator reads its settings when a process begins, so one that has none begins anew
// with them, which takes 25 ms. Without them each thread of the pool has an arena of its own, with holes where LevelDB's buffers
// were (100 of 1,040 MiB with 10,000 tenants asleep); and the buffers of 64 KiB that every open store and TLS connection
// has lie among small things that stay, so that their memory is not given back (a tenth of the memory with 1,200 tenants).
//
// What has that size lies by itself only where the heap's end has no room for it. By default glibc has up to 128 KiB there, in use
// before: cut from that, what a connection reads into is in memory whole, of which it needs a page. With a small end 2,000 idle
// connections take 27 to 30 MiB for it instead of 48 to 58.

const settings = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TOP_PAD_: "8192" }

const isSet = Object.keys(settings).every((name) => process.env[name] !== undefined)
// Who has a channel to a parent would lose it, and has the parent's environment. Not all systems can begin anew.
if (process.platform === "linux" && !isSet && process.channel === undefined) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args, { ...settings, ...process.env })
}
