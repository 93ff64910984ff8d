import { describe, expect, test } from "vitest"
import type { PodSpec } from "../../../../apimachinery/object.ts"
import { podOf, run } from "../../../testing/pod-mutation.ts"
import { serviceAccountToken, tokenSources } from "./service-account-token.ts"

describe("serviceAccountToken", () => {
  const volumes = [
    { name: "plain", emptyDir: {} },
    {
      name: "kube-api-access-x",
      projected: {
        sources: [
          { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
          { configMap: { name: "kube-root-ca.crt" } },
          { serviceAccountToken: { path: "vault", audience: "vault" } },
        ],
      },
    },
  ] as NonNullable<PodSpec["volumes"]>

  test("finds the token sources of the pod", () => {
    expect(tokenSources(podOf({ volumes }))).toEqual([
      { key: "token-1-0", audience: undefined, expirationSeconds: 3607 },
      { key: "token-1-2", audience: "vault", expirationSeconds: 3600 },
    ])
  })

  test("replaces the sources with the Secret", () => {
    const sources = run(serviceAccountToken, podOf({ volumes })).volumes?.[1]?.projected?.sources
    expect(sources).toEqual([
      { secret: { name: "pod-token-u1", items: [{ key: "token-1-0", path: "token" }] } },
      { configMap: { name: "kube-root-ca.crt" } },
      { secret: { name: "pod-token-u1", items: [{ key: "token-1-2", path: "vault" }] } },
    ])
  })

  test("ignores other volumes with the usual name", () => {
    const ordinary = [{ name: "kube-api-access-x", emptyDir: {} }]
    expect(run(serviceAccountToken, podOf({ volumes: ordinary })).volumes).toEqual(ordinary)
  })
})
