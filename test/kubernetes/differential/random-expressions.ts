// Evaluates random expressions of CEL with Go, as kube-apiserver does, and here, run manually. Differences are reported by what they are
// in: the issues, the type, the value or error, the cost.
//
//   (cd apimachinery/cel/generate && go build -o EVALUATOR .)
//   node test/kubernetes/differential/random-expressions.ts EVALUATOR [--seed N] [--count N]

import { spawnSync } from "node:child_process"
import { parseArgs } from "node:util"
import { chance, createRandom, pick, type Random, seedOf } from "../../../apimachinery/testing/random.ts"
import { CostExceeded } from "../../../apimachinery/cel/closures.ts"
import { perCallLimit } from "../../../apimachinery/cel/program.ts"
import { type Answer, answer, declared, variables } from "../../../apimachinery/testing/cel-answers.ts"
import { expression, wantedTypes } from "./random/expressions.ts"

interface Evaluated {
  expr: string
  compile?: string
  type?: string
  value?: string
  error?: string
  cost: number
  /** Estimated, before it is evaluated. */
  min: number
  max: string
}

/** Expressions shown of each difference. */
const mostShown = 3
const maxOutput = 2 ** 30

/** What expressions.ts refers to in policies, and what stands for it here. */
const standIns: readonly [RegExp, string][] = [
  [/object\.data\.absent/g, "ms.absent"],
  [/has\(object\.data\.s\)/g, "has(ms.k)"],
  [/object\.data\.[stn]|object\.metadata\.name|request\.operation|request\.kind\.kind/g, "s"],
  [/object\.data|object\.metadata\.labels/g, "ms"],
]

const { values: options, positionals } = parseArgs({
  options: { seed: { type: "string" }, count: { type: "string", default: "5000" } },
  allowPositionals: true,
})
const seed = seedOf(options.seed)
console.log(`seed ${seed}`)
const found = new Map<string, string[]>()
const theirs = evaluated(positionals[0] ?? "", expressions())
for (const each of theirs) compare(each)
for (const [what, list] of found) {
  const shortest = list.toSorted((a, b) => a.length - b.length).slice(0, mostShown)
  console.log(`${list.length} × ${what}\n${shortest.join("\n")}\n`)
}
console.log(`${theirs.length} expressions, ${theirs.filter(({ error }) => error !== undefined).length} end in an error`)

function expressions(): string[] {
  const random = createRandom(seed)
  const scope = Object.entries(declared).map(([name, type]) => ({ name, type }))
  const all = Array.from({ length: Number(options.count) }, () =>
    outlived(
      random,
      standIns.reduce(
        (text, [word, standIn]) => text.replaceAll(word, standIn),
        expression(random, pick(random, wantedTypes), scope),
      ),
    ),
  )
  return all.filter((text) => !text.includes("authorizer"))
}

/** Some are used where an error is of no consequence, but for what it cost until then. */
function outlived(random: Random, text: string): string {
  return chance(random, 0.3) ? `dyn(${text}) == null || true` : text
}

function evaluated(program: string, list: readonly string[]): Evaluated[] {
  const input = list.map((expr) => JSON.stringify({ expr, vars: variables })).join("\n")
  const { stdout, stderr, status, error } = spawnSync(program, { input, maxBuffer: maxOutput })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${program}: ${stderr.toString()}`)
  const lines = stdout.toString().trimEnd().split("\n")
  return lines.map((line) => JSON.parse(line) as Evaluated)
}

function compare({ expr, compile, type, value, error, cost, min, max }: Evaluated): void {
  const ours = answerWithin(expr)
  // Go's evaluation has no limit here.
  if (ours === undefined && cost > perCallLimit) return
  if (ours === undefined) return note("a cost beyond the limit", `  ${expr}\n    - ${cost}`)
  const hasValue = compile === undefined && error === undefined
  const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
    issues: [compile, ours.issues],
    type: [
      type?.replaceAll(/google\.protobuf\.(Duration|Timestamp)/g, (_, name: string) => name.toLowerCase()),
      ours.type,
    ],
    error: [error, ours.error],
    value: [value, ours.value],
    cost: [hasValue ? cost : undefined, ours.cost],
    estimate: [compile ?? `${min} ${rounded(Number(max))}`, ours.issues ?? printEstimate(ours.estimate)],
  }
  for (const [what, [one, other]] of Object.entries(pairs)) {
    if (one === other) continue
    const shape = what === "error" ? `error: ${String(one)} / ${String(other)}`.replaceAll(/\d+/g, "N") : what
    return note(shape, `  ${expr}\n    - ${String(one)}\n    + ${String(other)}`)
  }
}

/** Beyond 2⁵³ numbers are not whole here. */
function rounded(cost: number): number {
  return cost < 2 ** 53 ? cost : Number(cost.toPrecision(9))
}

function printEstimate([min, max]: readonly [number, number] = [0, 0]): string {
  return `${min} ${rounded(max)}`
}

function note(shape: string, text: string): void {
  found.set(shape, [...(found.get(shape) ?? []), text])
}

/** Undefined if it costs too much. */
function answerWithin(expression: string): Answer | undefined {
  try {
    return answer(expression)
  } catch (error) {
    if (error instanceof CostExceeded) return undefined
    throw error
  }
}
