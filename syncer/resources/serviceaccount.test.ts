import { describe, expect, test } from "vitest"
import type { ServiceAccount } from "../../apimachinery/object.ts"
import { buildSuperObject } from "../conversion/super-object.ts"
import { decide } from "../decision.ts"
import { settingsOf } from "../options.ts"
import { fakeTenant } from "../testing/fake-tenants.ts"
import { emptyView, type ResourceSync, type SyncContext } from "./resource-sync.ts"
import { serviceAccount } from "./serviceaccount.ts"

const context: SyncContext = { tenant: fakeTenant("acme"), settings: settingsOf({}), now: 0, view: emptyView }
const sync = serviceAccount as unknown as ResourceSync

const references = (names: readonly string[]): { name: string }[] => names.map((name) => ({ name }))

const accountWith = (...names: string[]): ServiceAccount => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { namespace: "default", name: "builder", uid: "u1" },
  ...(names.length === 0 ? {} : { imagePullSecrets: references(names) }),
})

describe("image pull secrets", () => {
  /** The copy of an account with those, and what it has now. */
  const copyOf = (made: readonly string[], present: readonly string[]): ServiceAccount => ({
    ...buildSuperObject(sync, accountWith(...made), context),
    imagePullSecrets: references(present),
  })

  test.each([
    ["are copied", ["a"], [], [], ["a"]],
    ["of the tenant are restored", ["a"], ["a"], [], ["a"]],
    ["of others stay", ["a"], ["a"], ["a", "dockercfg"], undefined],
    ["of others stay when the tenant's change", ["b"], ["a"], ["dockercfg", "a"], ["dockercfg", "b"]],
    ["of others stay when the tenant has none", [], ["a"], ["dockercfg", "a"], ["dockercfg"]],
    ["in another order are the same", ["a", "b"], ["a", "b"], ["b", "a"], undefined],
  ])("%s", (_what, wanted, made, present, expected) => {
    const decision = decide(sync, accountWith(...wanted), copyOf(made, present), context)
    if (expected === undefined) expect(decision).toEqual({ do: "nothing" })
    else expect(decision).toMatchObject({ superPatches: [{ patch: { imagePullSecrets: references(expected) } }] })
  })
})
