import { describe, expect, test } from "vitest"
import { type Container, envOf, kubernetes, podOf, run } from "../../../testing/pod-mutation.ts"
import type { PodContext } from "../context.ts"
import { serviceEnv } from "./service-env.ts"

describe("serviceEnv", () => {
  test("is limited to the variables that a pod can have", () => {
    const services = () => Array.from({ length: 100 }, (_, at) => ({ ...kubernetes, name: `s${at}` }))
    const containers = Array.from({ length: 1000 }, (_, at) => ({ name: `c${at}`, image: "i" })) as Container[]
    expect(() => run(serviceEnv, podOf({ containers }), { services })).toThrow("set enableServiceLinks to false")
    const { containers: made } = run(serviceEnv, podOf({ containers, enableServiceLinks: false }), { services })
    expect(made.at(-1)?.env?.at(-1)).toEqual({ name: "KUBERNETES_SERVICE_HOST", value: "kubernetes" })
  })

  test("makes no more of them than that", () => {
    let read = 0
    const ports = Array.from({ length: 60_000 }, (_, at) => ({
      get port() {
        read++
        return at + 1
      },
    }))
    const services = () => Array.from({ length: 1000 }, (_, at) => ({ ...kubernetes, name: `s${at}`, ports }))
    expect(() => run(serviceEnv, podOf(), { services })).toThrow("set enableServiceLinks to false")
    expect(read).toBeLessThan(1e6)
  })

  const web = { name: "web", clusterIP: "10.0.0.5", ports: [{ port: 80 }] }
  test.each([
    ["links by default", undefined, true],
    ["links when asked for", true, true],
    ["none when switched off", false, false],
  ])("%s", (_name, enableServiceLinks, linked) => {
    const spec = run(serviceEnv, podOf(enableServiceLinks === undefined ? {} : { enableServiceLinks }), {
      services: () => [web],
    })
    expect(envOf(spec)["WEB_SERVICE_HOST"]).toBe(linked ? "10.0.0.5" : undefined)
    expect(envOf(spec)["KUBERNETES_SERVICE_HOST"]).toBe("kubernetes")
    expect(envOf(spec)["KUBERNETES_SERVICE_PORT"]).toBe("443")
  })

  test("prefers the pod's own variables, and applies to init containers", () => {
    const env = [{ name: "KUBERNETES_SERVICE_HOST", value: "mine" }]
    const spec = run(serviceEnv, podOf({ initContainers: [{ name: "init" }] }, { env }))
    expect(spec.containers[0]?.env?.filter(({ name }) => name === "KUBERNETES_SERVICE_HOST")).toEqual(env)
    expect(spec.initContainers?.[0]?.env?.some(({ name }) => name === "KUBERNETES_SERVICE_HOST")).toBe(true)
  })

  test("does not hide what a ConfigMap or Secret gives", () => {
    const envFrom = [{ prefix: "WEB_", configMapRef: { name: "a" } }, { secretRef: { name: "b" } }]
    const data = { a: { PORT: "mine" }, b: { KUBERNETES_SERVICE_PORT: "mine" } }
    const variablesOf: PodContext["variablesOf"] = ({ configMapRef, secretRef }) =>
      configMapRef?.name === "a" ? data.a : secretRef?.name === "b" ? data.b : undefined
    const spec = run(serviceEnv, podOf({}, { envFrom }), { services: () => [web], variablesOf })
    expect(envOf(spec)).not.toHaveProperty("WEB_PORT")
    expect(envOf(spec)).not.toHaveProperty("KUBERNETES_SERVICE_PORT")
    expect(envOf(spec)).toMatchObject({ WEB_SERVICE_PORT: "80", KUBERNETES_SERVICE_HOST: "kubernetes" })
  })
})
