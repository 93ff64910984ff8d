// Imported before everything else. Node cuts small buffers from pools of 64 KiB, and one of a few bytes that is kept keeps its
// whole pool: each TLS connection has such (27 KiB of its memory with these pools), and each tenant that is awake.

Buffer.poolSize = 8 * 1024
