// What fairness.ts and its probe in the gateway agree on.

export const probed = {
  /** How the URLs of the quiet tenant's requests end. */
  path: "/configmaps/mine",
  /** How a line about one begins. */
  line: "answered ",
} as const

export interface Answered {
  method: string
  ms: number
  workedMs: number
}
