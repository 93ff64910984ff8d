// What fairness.ts and its probe in the gateway agree on.

export const probed = {
  /** How the URLs of the quiet tenant's requests end. */
  path: "/configmaps/mine",
  /** How a line about one begins. */
  line: "answered ",
  /** How a line about the turns of the event loop begins. */
  turnsLine: "turns ",
} as const

export interface Answered {
  method: string
  ms: number
  workedMs: number
}

/** Milliseconds of the thread. */
export interface TurnsOfLoop {
  p99: number
  longest: number
}
