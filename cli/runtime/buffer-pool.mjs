// Imported before everything else. Node allocates small buffers from pools of 64 KiB, and a retained buffer of a few bytes
// retains its whole pool: each TLS connection has such buffers (27 KiB of its memory with these smaller pools), as has each
// tenant that is awake.

Buffer.poolSize = 8 * 1024
