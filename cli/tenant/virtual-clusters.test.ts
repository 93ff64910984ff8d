import { expect, test } from "vitest"
import { serviceUnavailable } from "../../apimachinery/status.ts"
import type { KubeClient } from "../../client/rest.ts"
import { waitForVirtualCluster } from "./virtual-clusters.ts"

test("a timeout of the super cluster is reported as a timeout of the tenant", async () => {
  const client = {
    list: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(serviceUnavailable("aborted")))),
  } as unknown as KubeClient
  await expect(waitForVirtualCluster(client, "default", "demo", 20, () => undefined)).rejects.toThrow(
    'tenant "demo" was not ready within 0.02 s',
  )
})
