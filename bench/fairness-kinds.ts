// The kinds of load of a greedy tenant (fairness-load.ts), and how their effect is reported (fairness.ts).

const loadKinds = {
  reads: "gets",
  writes: "merge patches",
  lists: "lists of 2,000 objects, compressed",
  watches: "writes that all its watches see",
  all: "all of these",
  bodies: "bodies of 1.2 MB in 50,000 keys",
  dense: "pods of 60,000 volumes",
  applies: "server-side applies of 5,000 list items",
  selectors: "lists by label of 50,000 objects",
  deletes: "deletes of collections of 1,000 objects",
  rules: "custom resources with a CEL rule over 300 items",
  connections: "new connections, of one request each",
  ahead: "1,000 requests at once on a connection",
} as const

export type LoadKind = keyof typeof loadKinds

export function isLoadKind(text: string): text is LoadKind {
  return Object.hasOwn(loadKinds, text)
}

export const allLoadKinds = Object.keys(loadKinds).filter(isLoadKind)
