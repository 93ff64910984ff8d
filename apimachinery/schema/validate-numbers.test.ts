import { expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import type { Json } from "../object.ts"
import { compileSchema } from "./structural/compile.ts"
import { validateRules } from "./validate.ts"

const smallest = "-9223372036854775808"

test.each<[object, number | bigint, string[]]>([
  [{ type: "number", maximum: 1e300 }, 5, [`5: a in body should be less than or equal to ${smallest}`]],
  [{ type: "number", maximum: 1e300 }, 5.5, []],
  [{ type: "number", minimum: 1e300 }, 5, []],
  [{ type: "number", multipleOf: 0.5 }, 5, ["0: factor MultipleOf declared for a must be positive: 0"]],
  [{ type: "number", maximum: 1e6 }, 1_000_000.5, ["1.0000005e+06: a in body should be less than or equal to 1e+06"]],
  [{ type: "number", minimum: 0.00001 }, 0.000001, ["1e-06: a in body should be greater than or equal to 1e-05"]],
  [{ type: "integer", format: "uint32" }, -1, []],
  [
    { type: "integer" },
    -1.0000000001,
    [
      '"number": a in body must be of type integer: "number"',
      '"": Checked value must be of type integer (default format) in a',
    ],
  ],
  [
    { type: "integer", minimum: -(2 ** 63) },
    0,
    ['"": Minimum boundary value must be of type integer (default format) in a'],
  ],
  [{ "x-kubernetes-int-or-string": true, enum: ["a"] }, 97, []],
  [
    { type: "integer", format: "int32", maximum: 3e9 },
    2 ** 32,
    [
      '"": Checked value must be of type integer with format int32 in a',
      '"": Maximum boundary value must be of type integer with format int32 in a',
      "4.294967296e+09: a in body should be less than or equal to 3e+09",
    ],
  ],
])("%j: %s", (source, value, expected) => {
  const schema = compileSchema({ type: "object", properties: { a: source as { [name: string]: Json } } })
  const errors = validateRules(schema, { a: value }, FieldPath.root()).map((error) => error.body())
  expect(errors).toEqual(expected.map((words) => `Invalid value: ${words}`))
})
