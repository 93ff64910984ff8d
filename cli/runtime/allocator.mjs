// Imported before everything else. glibc's allocator reads its settings when a process starts, so a process without them restarts
// itself with them, which takes 25 ms. Without them each thread of the pool has a separate arena, with holes left by LevelDB's
// buffers (100 of 1,040 MiB with 10,000 tenants asleep); and the 64 KiB buffers of every open store and TLS connection lie
// between small long-lived allocations, so that their memory is not returned (a tenth of the memory with 1,200 tenants).
//
// Allocations of that size are only mapped separately if they do not fit at the end of the heap. By default glibc keeps up to 128
// KiB of previously used memory there: a connection's read buffer taken from it is fully resident, although only a page of it is
// needed. With a small end, these buffers take 27 to 30 MiB for 2,000 idle connections instead of 48 to 58.

const settings = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TOP_PAD_: "8192" }

const isSet = Object.keys(settings).every((name) => process.env[name] !== undefined)
// A process with a channel to its parent would lose it, and has inherited the parent's environment. Not all systems support the
// restart.
if (process.platform === "linux" && !isSet && process.channel === undefined) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args, { ...settings, ...process.env })
}
