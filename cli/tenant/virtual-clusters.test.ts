import { expect, test } from "vitest"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { KubeClient } from "../../client/rest.ts"
import { waitForVirtualCluster } from "./virtual-clusters.ts"

test("a super cluster that does not answer in time is told of as a tenant that is not there in time", async () => {
  const client = {
    list: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(serviceUnavailable("aborted")))),
  } as unknown as KubeClient
  await expect(waitForVirtualCluster(client, "default", "demo", 20, () => undefined)).rejects.toThrow(
    'tenant "demo" did not get there in 0.02 s',
  )
})
