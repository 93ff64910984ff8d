// Background work that ends with its owner.

/** Starts work that lasts until the stack is disposed: that aborts the signal and waits for the end of the work. */
export function runUntilDisposed(stack: AsyncDisposableStack, work: (signal: AbortSignal) => Promise<void>): void {
  const ending = new AbortController()
  const running = work(ending.signal)
  stack.defer(() => {
    ending.abort()
    return running
  })
}
