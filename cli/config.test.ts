import path from "node:path"
import { describe, expect, test } from "vitest"
import { UserError } from "./command.ts"
import {
  filePath,
  hostName,
  integer,
  listOf,
  objectName,
  oneOf,
  optional,
  orEnvironment,
  parseConfig,
  readConfig,
  section,
  text,
  url,
  withDefault,
} from "./config.ts"

const fields = {
  name: text,
  dir: optional(filePath),
  url: optional(url),
  port: withDefault(integer(1, 65_535), 6443),
  level: withDefault(oneOf("info", "warn"), "info"),
  hosts: withDefault(listOf(text), []),
  secret: optional(objectName),
  inner: optional(section({ host: text })),
}

function messageOf(content: string): string {
  try {
    parseConfig("/etc/part.yaml", content, fields)
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as UserError).message
  }
  throw new Error("nothing was wrong with it")
}

describe("a configuration file", () => {
  test("is read with defaults; missing fields are absent", () => {
    expect(parseConfig("/etc/part.yaml", "name: a", fields)).toStrictEqual({
      name: "a",
      port: 6443,
      level: "info",
      hosts: [],
    })
  })

  test("has strings, numbers, lists, names and sections; paths are relative to the file", () => {
    const content = `{name: a, dir: data/x, url: "https://host", port: 1, level: warn, hosts: [a, b], secret: ns/s, inner: {host: h}}`
    expect(parseConfig("/etc/part.yaml", content, fields)).toStrictEqual({
      name: "a",
      dir: "/etc/data/x",
      url: "https://host",
      port: 1,
      level: "warn",
      hosts: ["a", "b"],
      secret: { namespace: "ns", name: "s" },
      inner: { host: "h" },
    })
  })

  test.for<[string, string]>([
    ["", `/etc/part.yaml: field "name" is missing`],
    ["- a", `/etc/part.yaml must be a mapping, not ["a"]`],
    ["just words", `/etc/part.yaml must be a mapping, not "just words"`],
    ["name: 5", `/etc/part.yaml: field "name" must be a text, not 5`],
    ["name:", `/etc/part.yaml: field "name" must be a text, not null`],
    ["{name: a, port: high}", `/etc/part.yaml: field "port" must be a whole number from 1 to 65535, not "high"`],
    ["{name: a, port: 0}", `/etc/part.yaml: field "port" must be a whole number from 1 to 65535, not 0`],
    ["{name: a, port: 1.5}", `/etc/part.yaml: field "port" must be a whole number from 1 to 65535, not 1.5`],
    ["{name: a, level: loud}", `/etc/part.yaml: field "level" must be one of info, warn, not "loud"`],
    ["{name: a, url: gateway:6443}", `/etc/part.yaml: field "url" must be an https:// URL, not "gateway:6443"`],
    ["{name: a, hosts: a}", `/etc/part.yaml: field "hosts" must be a list, not "a"`],
    ["{name: a, hosts: [a, 1]}", `/etc/part.yaml: field "hosts[1]" must be a text, not 1`],
    ["{name: a, secret: s}", `/etc/part.yaml: field "secret" must be NAMESPACE/NAME, not "s"`],
    ["{name: a, inner: {}}", `/etc/part.yaml: field "inner.host" is missing`],
    ["{name: a, inner: {host: h, x: 1}}", `/etc/part.yaml: there is no field "inner.x"; known are host`],
    [
      "{nam: a}",
      `/etc/part.yaml: there is no field "nam"; known are dir, hosts, inner, level, name, port, secret, url`,
    ],
    ["{name: a, toString: b}", `there is no field "toString"`],
    ["name: a\nname: b", '/etc/part.yaml is not YAML: yaml: line 2: key "name" already set in map'],
  ])("%j: %s", ([content, message]) => {
    expect(messageOf(content)).toContain(message)
  })

  test("that is missing is named", async () => {
    const file = path.join(import.meta.dirname, "no-such.yaml")
    await expect(readConfig(file, fields)).rejects.toThrow(`${file} cannot be read: ENOENT`)
  })
})

test("names and addresses of certificates are validated", () => {
  const read = (names: string) => parseConfig("gateway.yaml", `names: [${names}]`, { names: listOf(hostName) }).names
  expect(read("gateway, '*.example.com', 10.0.0.1, '::1'")).toEqual(["gateway", "*.example.com", "10.0.0.1", "::1"])
  for (const wrong of ["a b", "https://a", "*", "a.*"])
    expect(() => read(`'${wrong}'`)).toThrow(`field "names[0]" must be a DNS name or an IP address, not "${wrong}"`)
})

describe("a field with an environment variable", () => {
  const read = (content: string, environment: Record<string, string>): string =>
    parseConfig("f.yaml", content, { node: orEnvironment("NODE_NAME", text, environment) }).node

  test("is read from the file, then from the environment", () => {
    expect(read("node: a", { NODE_NAME: "b" })).toBe("a")
    expect(read("", { NODE_NAME: "b" })).toBe("b")
  })

  test.for([{}, { NODE_NAME: "" }])("is missing without both: %j", (environment) => {
    expect(() => read("", environment)).toThrow(`f.yaml: field "node" is missing, and NODE_NAME is not set`)
  })
})
