// Counts the turns of the event loop, which long work has to leave to others.

interface Turns extends Disposable {
  readonly count: number
}

/** Until it is disposed. */
export function countTurns(): Turns {
  let count = 0
  let next: NodeJS.Immediate
  const turn = (): void => {
    count++
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => clearImmediate(next),
  }
}
