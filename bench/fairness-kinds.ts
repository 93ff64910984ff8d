// What a greedy tenant can do as much of as it gets (fairness-load.ts), and what one sees of it (fairness.ts).

export const greeds = ["reads", "writes", "lists", "watches", "all"] as const

export type Greed = (typeof greeds)[number]

export function isGreed(text: string): text is Greed {
  return (greeds as readonly string[]).includes(text)
}
