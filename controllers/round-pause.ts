// A round that costs time proportional to the number of objects that it looks at must not follow each change of one of them.

const msPerObject = 0.02
const longestMs = 1_000

/** Milliseconds to wait after one of so many objects has changed, before a round looks at all of them. */
export function roundPauseMs(objects: number): number {
  return Math.min(Math.floor(objects * msPerObject), longestMs)
}
