// Waits for a condition instead of sleeping.

export async function eventually<T>(check: () => T | undefined | false, what: string, timeoutMs = 5000): Promise<T> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const found = check()
    if (found !== undefined && found !== false) return found
    if (Date.now() > until) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
