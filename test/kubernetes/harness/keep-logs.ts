// Setup of every test file that uses real Kubernetes: after a failed test, control planes that end later in the same process keep
// their logs (keepLogsVariable, which may also be set manually).

import { afterEach } from "vitest"
import { keepLogsVariable } from "./test-kubernetes.ts"

afterEach(({ task }) => {
  if (task.result?.state === "fail") process.env[keepLogsVariable] = "yes"
})
