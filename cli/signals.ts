// How a long-running command ends: the first SIGINT or SIGTERM asks it to stop, the second one has its default effect.

export function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}
