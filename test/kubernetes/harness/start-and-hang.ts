// Starts a control plane, prints the pids of its programs and waits until it is killed: for test-kubernetes.test.ts.

import { TestKubernetes } from "./test-kubernetes.ts"

const kubernetes = await TestKubernetes.start()
console.log(JSON.stringify(kubernetes.pids))
await new Promise(() => setInterval(() => undefined, 60_000))
