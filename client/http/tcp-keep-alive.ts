// Connections whose other side has vanished without a word: a node without power, a suspended laptop, a broken network. An exec or
// a followed log may be silent for hours, so without probes of the kernel such a connection would stay, and count, for ever.

/** Options of servers and of connections. As Go's servers: the first probe after 15 s of silence. */
export const tcpKeepAlive = { keepAlive: true, keepAliveInitialDelay: 15_000 } as const
