import { expect, test } from "vitest"
import { mergeMetrics } from "./metrics.ts"

test("families are printed once, and every series has a label of its process", () => {
  const text = (count: number) =>
    `# HELP tenants Tenants\n# TYPE tenants gauge\ntenants ${count}\n# HELP seconds Time\n# TYPE seconds histogram\nseconds_bucket{le="+Inf"} 2\nseconds_sum{} 1\n`
  expect(
    mergeMetrics([
      { process: "primary", text: text(0) },
      { process: "worker-1", text: `${text(4)}# HELP more More\n# TYPE more counter\nmore{a="b c"} 1\n` },
    ]),
  ).toBe(
    [
      "# HELP tenants Tenants",
      "# TYPE tenants gauge",
      'tenants{process="primary"} 0',
      'tenants{process="worker-1"} 4',
      "# HELP seconds Time",
      "# TYPE seconds histogram",
      'seconds_bucket{process="primary",le="+Inf"} 2',
      'seconds_sum{process="primary"} 1',
      'seconds_bucket{process="worker-1",le="+Inf"} 2',
      'seconds_sum{process="worker-1"} 1',
      "# HELP more More",
      "# TYPE more counter",
      'more{process="worker-1",a="b c"} 1',
      "",
    ].join("\n"),
  )
})
