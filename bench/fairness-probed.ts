// Constants and types shared by fairness.ts and its probe in the gateway.

export const probed = {
  /** Suffix of the URLs of the quiet tenant's requests. */
  path: "/configmaps/mine",
  /** Prefix of a line about such a request. */
  line: "answered ",
  /** Prefix of a line about the turns of the event loop. */
  turnsLine: "turns ",
} as const

export interface Answered {
  method: string
  ms: number
  workedMs: number
}

/** Processor time of the thread in milliseconds. */
export interface TurnsOfLoop {
  p99: number
  longest: number
}
