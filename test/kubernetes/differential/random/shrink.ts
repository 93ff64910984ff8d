// Finds the smallest scenario with the same difference: removes steps, parameters, headers and parts of bodies one after the
// other, as long as the difference remains.

import type { Json } from "../../../../apimachinery/object.ts"
import { describeStep, type RequestStep, type Scenario, type Step } from "../scenario.ts"
import { placesOf, replaced } from "./mutate.ts"

/** Number of attempts per scenario. */
const mostTries = 80

type StillDiffers = (scenario: Scenario) => Promise<boolean>

/** `title`: of the request whose response differs. */
export async function shrink(scenario: Scenario, title: string, stillDiffers: StillDiffers): Promise<Scenario> {
  let tries = 0
  let smallest = scenario
  for (const steps of shortest(scenario.steps, title)) {
    tries++
    if (!(await stillDiffers({ ...scenario, steps }))) continue
    smallest = { ...scenario, steps }
    break
  }
  for (let before: Scenario | undefined; before !== smallest && tries < mostTries;) {
    before = smallest
    for (const smaller of smallerOnes(before)) {
      if (++tries > mostTries) break
      const candidate = { ...before, steps: smaller }
      if (!(await stillDiffers(candidate))) continue
      smallest = candidate
      break
    }
  }
  return smallest
}

/** The request alone, after the step that creates the object, or after all previous steps. */
function shortest(steps: readonly Step[], title: string): Step[][] {
  const at = steps.findIndex((step) => describeStep(step) === title)
  if (at <= 0) return []
  return [steps.slice(at, at + 1), [...steps.slice(0, 1), ...steps.slice(at, at + 1)], steps.slice(0, at + 1)]
}

/** The largest reductions first. */
function* smallerOnes({ steps }: Scenario): Generator<Step[]> {
  for (let size = Math.floor(steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = steps.length; at > 0; at -= size) {
      yield steps.toSpliced(Math.max(0, at - size), Math.min(size, at))
    }
  }
  for (const [index, step] of steps.entries()) {
    for (const smaller of smallerSteps(step)) yield steps.with(index, smaller)
  }
}

function* smallerSteps(step: Step): Generator<Step> {
  if (step.headers !== undefined) {
    const { headers: _, ...rest } = step
    yield rest
  }
  const path = "watch" in step ? step.watch : step.path
  for (const fewer of withoutParameters(path))
    yield "watch" in step ? { ...step, watch: fewer } : { ...step, path: fewer }
  if ("watch" in step || typeof step.body !== "object" || step.body === null) return
  for (const body of smallerBodies(step.body)) yield { ...step, body } satisfies RequestStep
}

function withoutParameters(path: string): string[] {
  const [base = "", query] = path.split("?")
  if (query === undefined) return []
  const parameters = query.split("&")
  return parameters.map((_, index) => [base, parameters.toSpliced(index, 1).join("&")].filter(Boolean).join("?"))
}

/** Without one of its parts, the largest first. */
function smallerBodies(body: Json): Json[] {
  const places = placesOf(body, undefined).filter(({ path }) => path.length > 0)
  const size = ({ value }: { value: Json }): number => (JSON.stringify(value) ?? "").length
  return places.toSorted((a, b) => size(b) - size(a)).map(({ path }) => replaced(body, path, undefined))
}
