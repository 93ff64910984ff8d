// The time that the disk alone needs for durable writes, without any server, for comparison with servers.

import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

/** Size of the log entry of a small object with its key. */
const bytes = 2_048
/** Writes are started in intervals of this length. */
const stepMs = 2

/**
 * Returns the milliseconds of each append and flush, at the given rate, to `files` files in turn; those to the same file are
 * sequential.
 */
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
