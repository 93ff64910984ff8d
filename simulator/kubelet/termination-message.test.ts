import { expect, test } from "vitest"
import { SimulatedContainer } from "../container/container.ts"
import { FileSystem, Volume } from "../container/file-system.ts"
import { terminationMessage } from "./termination-message.ts"

const path = "/dev/termination-log"

async function ended(script: string, file = ""): Promise<SimulatedContainer> {
  const container = new SimulatedContainer("id", {
    name: "a",
    image: "busybox",
    command: ["sh", "-c", script],
    environment: {},
    files: new FileSystem(new Volume([["dev/termination-log", file]]), []),
    hostname: "a",
    workingDir: "/",
    ports: [],
    stdin: false,
  })
  await container.ended
  return container
}

test.each([
  { title: "the end of a long file", file: `${"a".repeat(5000)}b`, containers: 1, expected: `${"a".repeat(4095)}b` },
  { title: "the share of one of many", file: "b".repeat(5000), containers: 12, expected: "b".repeat(1024) },
])("$title", async ({ file, containers, expected }) => {
  const policy = { terminationMessagePath: path, terminationMessagePolicy: "File" } as const
  expect(terminationMessage(await ended("true", file), 0, policy, containers)).toBe(expected)
})

test("the last lines of a log, and of them the last bytes", async () => {
  const policy = { terminationMessagePath: path, terminationMessagePolicy: "FallbackToLogsOnError" } as const
  const lines = Array.from({ length: 100 }, (_, index) => `line-${index}`)
  const short = await ended(`echo ${lines.join("; echo ")}; exit 1`)
  expect(terminationMessage(short, 1, policy, 1)).toBe(
    lines
      .slice(20)
      .map((line) => `${line}\n`)
      .join(""),
  )
  const long = await ended(`echo ${"x".repeat(3000)}; exit 1`)
  expect(terminationMessage(long, 1, policy, 1)).toBe(`${"x".repeat(2047)}\n`)
})
