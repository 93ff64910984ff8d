import { expect, test } from "vitest"
import { printedInPieces } from "./print-list.ts"
import { printed } from "./print.ts"

const items = Array.from({ length: 45 }, (_, index) => ({
  metadata: { name: `object-${index}`, labels: {}, annotations: { "a/b": "[]" } },
  data: {
    items: [],
    text: "many words that are folded somewhere, ".repeat(index % 5),
    lines: "one\n\nrows: []\nitems: []\n",
  },
}))
const lengths = (count: number) => Array.from({ length: count }, () => ({ length: 300 }))
const forms = [
  { format: "json", pretty: false },
  { format: "json", pretty: true },
  { format: "yaml", pretty: false },
] as const

test.for(forms.flatMap((form) => [1, 20, 21, 45].map((count) => ({ ...form, count }))))(
  "a list of $count in $format (indented: $pretty) is printed with pauses, like the list as a whole",
  async ({ count, ...form }) => {
    for (const key of ["items", "rows"]) {
      let pauses = 0
      const make = (from: number, to: number) => ({
        kind: "List",
        apiVersion: "v1",
        metadata: { resourceVersion: "1", continue: "[]" },
        [key]: items.slice(from, to),
      })
      const ctx = { pause: () => void pauses++ }
      const pieces = await printedInPieces(ctx as never, key, lengths(count), make, form)
      expect(Buffer.concat(pieces).toString()).toBe(printed(make(0, count), form).toString())
      expect(pauses).toBe(Math.ceil(count / 20))
    }
  },
)

test("printing ends when its client disconnects", async () => {
  let pauses = 0
  const ctx = {
    pause: (): undefined => void pauses++,
    get isOver() {
      return pauses > 1
    },
  }
  const make = (from: number, to: number) => ({ kind: "List", items: items.slice(from, to) })
  const printing = printedInPieces(ctx, "items", lengths(items.length), make, { format: "json", pretty: false })
  await expect(printing).rejects.toThrow("request did not complete")
  expect(pauses).toBe(2)
})

test("a text that is many times as long as the objects is refused", async () => {
  const cells = ["x".repeat(1024 * 1024)]
  let made = 0
  const make = (from: number, to: number) => {
    made += to - from
    return { kind: "Table", rows: Array.from({ length: to - from }, () => ({ cells })) }
  }
  const printing = printedInPieces({}, "rows", lengths(10_000), make, { format: "json", pretty: false })
  await expect(printing).rejects.toThrow("the list has more than 134217728 bytes")
  expect(made).toBeLessThanOrEqual(140)
})

test("objects that are too deep to be indented are not, also in lists", async () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? Array.from({ length: 20_000 }, () => 1) : [deep(levels - 1)]
  const form = { format: "json", pretty: true } as const
  expect(printed(deep(10), form).toString()).toContain("\n  ")
  expect(printed(deep(900), form).toString()).not.toContain("\n  ")
  const objects = [{ a: 1 }, { a: deep(900) }, { a: 2 }]
  const make = (from: number, to: number) => ({ kind: "List", items: objects.slice(from, to) })
  const sizes = objects.map((_, index) => ({ length: index === 1 ? 1_000_000 : 10 }))
  const text = Buffer.concat(await printedInPieces({}, "items", sizes, make, form)).toString()
  expect(JSON.parse(text)).toEqual({ kind: "List", items: objects })
})
