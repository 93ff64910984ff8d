// Paths of fields as Go prints them.

type Step = string | number

/** Such as "spec.containers[0].name". */
export function printPath(path: readonly Step[]): string {
  let text = ""
  for (const step of path) text = extended(text, step)
  return text
}

function extended(text: string, step: Step): string {
  return typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`
}

/** Prints paths during a traversal: what several have in common is printed once. */
export class PathPrinter {
  /** The empty path, and the current one after each of its steps, as far as they have been asked for. */
  readonly #texts = [""]

  print(path: readonly Step[]): string {
    let text = this.#texts.at(-1) ?? ""
    for (const step of path.slice(this.#texts.length - 1)) this.#texts.push((text = extended(text, step)))
    return text
  }

  /** The current path has so many steps now. */
  leaveTo(length: number): void {
    while (this.#texts.length > length + 1) this.#texts.pop()
  }
}
