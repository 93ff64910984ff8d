import { describe, expect, test } from "vitest"
import { exponentialBounds, family, histogram, histogramSamples, observe, printLabels, sample } from "./exposition.ts"

describe("histogramSamples()", () => {
  test("accumulates the buckets up to each bound, inclusive", () => {
    const one = histogram([1, 10])
    for (const value of [0.5, 1, 2, 11]) observe(one, value)
    expect(histogramSamples("h", 'a="b"', one)).toEqual([
      'h_bucket{a="b",le="1"} 2',
      'h_bucket{a="b",le="10"} 3',
      'h_bucket{a="b",le="+Inf"} 4',
      'h_sum{a="b"} 14.5',
      'h_count{a="b"} 4',
    ])
    expect(histogramSamples("h", "", one).slice(-3)).toEqual(['h_bucket{le="+Inf"} 4', "h_sum 14.5", "h_count 4"])
  })

  test("has no samples without observations", () => {
    expect(histogramSamples("h", "", histogram([1]))).toEqual([])
    expect(family("h", "histogram", "H", [])).toBe("")
  })

  test.each([
    [100_000, "100000"],
    [1_000_000, "1e+06"],
    [1_048_576, "1.048576e+06"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [0.005, "0.005"],
  ])("prints the bound %d as Go does", (bound, printed) => {
    const one = histogram([bound])
    observe(one, 0)
    expect(histogramSamples("h", "", one)[0]).toBe(`h_bucket{le="${printed}"} 1`)
  })
})

test("exponentialBounds() multiplies", () => {
  expect(exponentialBounds(1000, 10, 3)).toEqual([1000, 10_000, 100_000])
})

test("label values are escaped", () => {
  expect(sample("m", printLabels({ a: 'x"\\\n', b: "" }), 1)).toBe('m{a="x\\"\\\\\\n",b=""} 1')
})
