import { expect, test } from "vitest"
import type { APIService } from "../../../client/api-services.ts"
import type { ResourceDefinition } from "../../registry/rest.ts"
import { listedGroups } from "./listed-groups.ts"

const definitions = (...names: string[]): ResourceDefinition[] =>
  names.map((name) => {
    const [group = "", version = ""] = name.split("/")
    return { group, version } as ResourceDefinition
  })

const service = (name: string, groupPriorityMinimum: number, versionPriority: number, label?: string): APIService => {
  const [group = "", version = ""] = name.split("/")
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `${version}.${group}`, ...(label === undefined ? {} : { labels: { [managed]: label } }) },
    spec: { group, version, groupPriorityMinimum, versionPriority },
  }
}

const managed = "kube-aggregator.kubernetes.io/automanaged"

const print = (own: readonly ResourceDefinition[], services: readonly APIService[]): string[] =>
  [...listedGroups(own, services).groups].map(
    ([group, versions]) => `${group}: ${versions.map(({ version }) => version).join(" ")}`,
  )

const served = definitions("b.example.com/v1beta1", "a.example.com/v1beta1", "b.example.com/v1", "apps/v1", "batch/v1")

const builtIn = [service("apps/v1", 17_800, 15, "onstart"), service("batch/v1", 17_400, 15, "onstart")]

test("custom resources are listed after what is built in, by the names of their APIServices", () => {
  const { isUsual } = listedGroups(served, builtIn)
  expect(isUsual).toBe(true)
  expect(print(served, builtIn)).toEqual([
    "apps: v1",
    "batch: v1",
    "b.example.com: v1 v1beta1",
    "a.example.com: v1beta1",
  ])
})

test("APIServices decide where others are listed", () => {
  const services = [
    ...builtIn,
    service("high.example.com/v1", 20_000, 1),
    service("low.example.com/v1", 100, 1),
    service("low.example.com/v2", 100, 1),
    service("a.example.com/v1", 2000, 1),
    service("gone.example.com/v1", 1000, 100, "true"),
    service("apps/v9", 20_000, 1),
  ]
  expect(listedGroups(served, services).isUsual).toBe(false)
  expect(print(served, services)).toEqual([
    "high.example.com: v1",
    "apps: v1",
    "batch: v1",
    "a.example.com: v1beta1 v1",
    "b.example.com: v1 v1beta1",
    "low.example.com: v2 v1",
  ])
})

test("an APIService that is changed changes the order", () => {
  expect(print(served, [...builtIn, service("b.example.com/v1beta1", 1000, 500)])[2]).toBe("b.example.com: v1beta1 v1")
})

test("what is built in is listed while it is registered", () => {
  const services = builtIn.slice(1)
  expect(listedGroups(served, services).isUsual).toBe(false)
  expect(print(served, services)).toEqual(["batch: v1", "b.example.com: v1 v1beta1", "a.example.com: v1beta1"])
})
