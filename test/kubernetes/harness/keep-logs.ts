// Set-up of every test file beside real Kubernetes: after a test failed, control planes that end later in this file keep their
// logs (keepLogsVariable, which a person may set as well).

import { afterEach } from "vitest"
import { keepLogsVariable } from "./test-kubernetes.ts"

afterEach(({ task }) => {
  if (task.result?.state === "fail") process.env[keepLogsVariable] = "yes"
})
