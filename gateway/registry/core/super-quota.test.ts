import { expect, test } from "vitest"
import type { ServiceAddresses } from "../../control-plane/service-addresses.ts"
import { createKindsStub, verdict } from "../../testing/kinds.ts"
import { SuperQuota } from "./super-quota.ts"

test("a dry run of a service does not end what a write of it has claimed", async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const claimed: string[] = []
  const serviceAddresses: ServiceAddresses = {
    async claim({ metadata: { name = "" }, spec }) {
      claimed.push(name)
      if (name === "s" && spec?.type === "NodePort") await gate
      return { commit: () => undefined, rollback: async () => undefined }
    },
    release: async () => undefined,
  }
  await using kinds = createKindsStub({ serviceAddresses })
  Object.assign(kinds.stub, { superQuota: new SuperQuota(() => ({ "services.nodeports": 1 })) })
  const change = { spec: { type: "NodePort" } }
  await kinds.create("services", { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } })
  const changed = kinds.patch("services", "s", change)
  await expect.poll(() => claimed).toEqual(["s", "s"])
  await kinds.patch("services", "s", change, { dryRun: true })
  const other = { metadata: { name: "t" }, spec: { type: "NodePort", ports: [{ port: 80 }] } }
  expect(await verdict(kinds.create("services", other))).toContain("exceeded quota: tenant")
  open()
  await changed
})
