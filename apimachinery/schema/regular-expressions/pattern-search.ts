// Finds matches of a regular expression like Go's FindAllString: leftmost first, the first alternative wins. Linear like
// patterns.ts: simulates all states at once, in order of preference, each with the start of its match.

import { holdsAt, type Instruction, limitSteps, programOf } from "./patterns.ts"

/** Marks that are made in the time of a step. */
const marksPerStep = 64

/** The first `limit` matching texts, or all if it is negative. */
export function findPattern(source: string, text: string, limit: number): string[] {
  const program = programOf(source)
  const found: string[] = []
  const spend = limitSteps()
  let after = 0
  // An empty match directly after another match is ignored.
  let lastEnd = -1
  while (after <= text.length && (limit < 0 || found.length < limit)) {
    const match = search(program, text, after, spend)
    if (match === undefined) break
    const [start, end] = match
    if (end > start || start !== lastEnd) found.push(text.slice(start, end))
    lastEnd = end
    after = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
  }
  return found
}

interface Threads {
  states: number[]
  starts: number[]
}

function search(
  program: readonly Instruction[],
  text: string,
  from: number,
  spend: (count?: number) => void,
): [number, number] | undefined {
  // A text may contain any number of matches, and each is searched with marks of its own.
  spend(Math.ceil(program.length / marksPerStep))
  const added = new Int32Array(program.length).fill(-1)
  let current: Threads = { states: [], starts: [] }
  let next: Threads = { states: [], starts: [] }
  let best: [number, number] | undefined
  let position = from
  const add = (threads: Threads, first: number, start: number): void => {
    const stack = [first]
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (added[at] === position) continue
      added[at] = position
      spend()
      const instruction = program[at] as Instruction
      if (instruction.op === "jump") stack.push(instruction.to)
      else if (instruction.op === "split") {
        // The alternative pushed last is preferred.
        if (instruction.lazy === true) stack.push(at + 1, instruction.to)
        else stack.push(instruction.to, at + 1)
      } else if (instruction.op !== "assert" || holdsAt(instruction.assertion, text, position)) {
        if (instruction.op === "assert") stack.push(at + 1)
        else {
          threads.states.push(at)
          threads.starts.push(start)
        }
      }
    }
  }
  for (;;) {
    if (best === undefined) add(current, 0, position)
    const point = text.codePointAt(position)
    const before = position
    position += point !== undefined && point > 0xffff ? 2 : 1
    for (const [index, at] of current.states.entries()) {
      const instruction = program[at] as Instruction
      if (instruction.op === "match") {
        best = [current.starts[index] ?? 0, before]
        break // the remaining states have lower preference
      }
      if (instruction.op !== "set" || point === undefined) continue
      const { set } = instruction
      if (point >= 128) spend(set.steps)
      if (point < 128 ? set.ascii[point] === 1 : set.contains(point)) add(next, at + 1, current.starts[index] ?? 0)
    }
    if (point === undefined || (next.states.length === 0 && best !== undefined)) return best
    ;[current, next] = [next, current]
    next.states.length = 0
    next.starts.length = 0
  }
}
