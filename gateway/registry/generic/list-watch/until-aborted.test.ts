import { expect, test } from "vitest"
import { UntilAborted } from "./until-aborted.ts"

/** Endless, until it is told to stop. `cleanup` is awaited at its end. */
async function* steps(cleanup: () => Promise<void>): AsyncGenerator<number> {
  try {
    for (let step = 0; ; step++) yield step
  } finally {
    await cleanup()
  }
}

const signal = (): AbortSignal => new AbortController().signal

test("who stops reading has what the steps held given back, and hears of what fails in that", async () => {
  let isHeld = true
  const release = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve))
    isHeld = false
  }
  for await (const step of new UntilAborted(steps(release), signal())) if (step === 2) break
  expect(isHeld).toBe(false)

  const failing = new UntilAborted(
    steps(() => Promise.reject(new Error("it is kept"))),
    signal(),
  )
  await failing.next()
  await expect(failing.return()).rejects.toThrow("it is kept")
  expect(await failing.return()).toEqual({ done: true, value: undefined })
})

test.each(["a step", "the end"])("the signal ends the wait for %s that does not come", async (what) => {
  const ending = new AbortController()
  const never = (): Promise<never> => new Promise(() => undefined)
  async function* stuck(): AsyncGenerator<number> {
    yield await never()
  }
  const reader = new UntilAborted(what === "a step" ? stuck() : steps(never), ending.signal)
  if (what === "the end") await reader.next()
  const waiting = what === "a step" ? reader.next() : reader.return()
  ending.abort()
  expect(await waiting).toEqual({ done: true, value: undefined })
})

test("who stops reading does not wait for a step that is pending, nor does who waits for that", async () => {
  let isHeld = true
  const late = Promise.withResolvers<number>()
  async function* slow(): AsyncGenerator<number> {
    try {
      yield await late.promise
    } finally {
      isHeld = false
    }
  }
  const reader = new UntilAborted(slow(), signal())
  const [step, end] = [reader.next(), reader.return()]
  const over = { done: true, value: undefined }
  expect(await Promise.all([step, end])).toEqual([over, over])
  // It ends once the step has come.
  late.resolve(1)
  await expect.poll(() => isHeld).toBe(false)
})
