import { expect, test } from "vitest"
import type { Job } from "../../../../apimachinery/object.ts"
import { validateJobStatus } from "./status.ts"

type Status = NonNullable<Job["status"]>

const job = (status: object, spec: object = {}): Job => ({ metadata: {}, spec, status: status as Status }) as Job
const condition = (type: string, status = "True"): object => ({ type, status })
const startTime = "2024-01-02T03:04:05Z"
const later = "2024-01-02T03:04:06Z"
const complete = [condition("SuccessCriteriaMet"), condition("Complete")]

test.each<[string, object, object, string[], object?]>([
  ["an empty status", {}, {}, []],
  [
    "a start that is taken back",
    { startTime },
    {},
    ["status.startTime: Invalid value: null: field is immutable for unsuspended job once set"],
  ],
  ["a start that is taken back while suspended", { startTime }, {}, [], { suspend: true }],
  [
    "a start that is new when it is resumed",
    { startTime, conditions: [condition("Suspended")] },
    { startTime: later, conditions: [condition("Suspended", "False")] },
    [],
  ],
  [
    "an end without times",
    {},
    { conditions: complete },
    [
      "status.completionTime: Required value: completionTime is required for Complete jobs",
      "status.startTime: Required value: startTime is required for finished job",
    ],
  ],
  ["an end", { startTime }, { startTime, completionTime: later, conditions: complete }, []],
  [
    "an end of both kinds",
    { startTime },
    { startTime, completionTime: later, conditions: [...complete, condition("Failed"), condition("FailureTarget")] },
    [
      "status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions",
      "status.conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions",
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions",
      "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
    ],
  ],
  [
    "pods of an end that was before",
    { startTime, completionTime: later, conditions: complete },
    { startTime, completionTime: later, conditions: complete, active: 1 },
    ["status.active: Invalid value: 1: active>0 is invalid for finished job"],
  ],
  [
    "an end that is taken back",
    { startTime, completionTime: later, conditions: complete, failed: 2 },
    { startTime, failed: 1 },
    [
      "status.conditions: Invalid value: cannot disable the terminal Complete=True condition",
      "status.failed: Invalid value: 1: cannot decrease the failed counter",
      "status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition",
    ],
  ],
])("the status of %s is validated as upstream", (_, before, after, messages, spec = {}) => {
  expect(validateJobStatus(job(after, spec), job(before, spec)).map((error) => error.message())).toEqual(messages)
})
