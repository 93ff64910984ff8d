// What the disk alone takes for writes that are to survive a loss of power, without any server: next to it stands what a server adds.

import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Of a small object with its key, as stores log it. */
const bytes = 2_048
/** Begun in steps of this. */
const stepMs = 2

/** Milliseconds of each append and flush: to `files` in turn, so many a second; those to one file one after the other. */
export async function flushTimes(files: number, perSecond: number, seconds: number): Promise<number[]> {
  const directory = await mkdtemp(path.join(tmpdir(), "polyplane-flushes-"))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(directory, { recursive: true }))
  const queues: { file: FileHandle; last: Promise<void> }[] = []
  for (let index = 0; index < files; index++) {
    const file = stack.use(await open(path.join(directory, String(index)), "a"))
    queues.push({ file, last: Promise.resolve() })
  }
  const content = Buffer.alloc(bytes, "x")
  const took: number[] = []
  const total = perSecond * seconds
  const begin = performance.now()
  for (let begun = 0; begun < total; await sleep(stepMs)) {
    const due = Math.min(total, ((performance.now() - begin) * perSecond) / 1000)
    for (; begun < due; begun++) {
      const queue = queues[begun % files]
      if (queue === undefined) throw new RangeError("no files")
      const at = performance.now()
      queue.last = queue.last.then(async () => {
        await queue.file.write(content)
        await queue.file.datasync()
        took.push(performance.now() - at)
      })
    }
  }
  await Promise.all(queues.map(({ last }) => last))
  return took
}
