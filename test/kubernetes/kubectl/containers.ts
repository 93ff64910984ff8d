// What is typed at the command line that needs a container which runs: copying, forwarding, debugging. As in script.ts the same
// goes to two servers, which have to say the same; here they share real nodes.

import { once } from "node:events"
import { mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { eventually } from "../../harness/eventually.ts"
import { collect, run, start } from "../../harness/processes.ts"
import { normalise } from "./normalise.ts"

interface ContainerStep {
  command: string[]
  /** Until it prints this; what is read needs a moment to become so. */
  until?: RegExp
}

const sleeping = ["sh", "-c", "trap exit TERM; while true; do sleep 0.2; done"]

export const containerSteps = (image: string): ContainerStep[] => [
  { command: ["run", "box", `--image=${image}`, "--restart=Never", "--command", "--", ...sleeping] },
  { command: ["wait", "--for=condition=Ready", "pod/box", "--timeout=60s"] },
  { command: ["cp", "tree/hello.txt", "box:/tmp/hello.txt"] },
  { command: ["exec", "box", "--", "cat", "/tmp/hello.txt"] },
  { command: ["cp", "tree", "box:/tmp/tree"] },
  { command: ["exec", "box", "--", "sh", "-c", "cd /tmp && find tree -type f | sort | xargs md5sum"] },
  // A path without a leading "/": of one with it tar complains, which kubectl prints or not as it happens to end.
  { command: ["cp", "box:tmp/tree", "back"] },
  { command: ["cp", "tree/hello.txt", "box:/tmp/x", "-c", "nobody"] },
  { command: ["exec", "box", "--", "no-such-program"] },
  { command: ["exec", "box", "-c", "nobody", "--", "ls"] },
  { command: ["exec", "missing", "--", "ls"] },
  { command: ["logs", "box", "-c", "nobody"] },
  { command: ["port-forward", "missing", ":80"] },
  {
    command: ["debug", "box", `--image=${image}`, "-c", "debugger", "--profile=general", "--", "sh", "-c", "echo seen"],
  },
  { command: ["logs", "box", "-c", "debugger"], until: /seen/ },
  { command: ["get", "pod", "box", "-o", "jsonpath={.spec.ephemeralContainers[*].name}"] },
  {
    command: ["debug", "box", "--copy-to=copy", `--set-image=*=${image}`, "--profile=general", "--keep-labels"],
  },
  { command: ["wait", "--for=condition=Ready", "pod/copy", "--timeout=60s"] },
  { command: ["exec", "copy", "--", "hostname"] },
  { command: ["debug", "node/node1", `--image=${image}`, "--profile=general", "--", "true"] },
  { command: ["delete", "pod", "box", "copy", "--grace-period=1", "--timeout=60s"] },
]

interface CommandLine {
  /** KUBECONFIG and what else kubectl reads. */
  env: NodeJS.ProcessEnv
  namespace: string
  /** Where files are copied from and to. */
  directory: string
}

/** What each step printed and how it ended, as far as two servers have to agree on it. */
export async function typeSteps(steps: readonly ContainerStep[], where: CommandLine): Promise<string[]> {
  const tree = path.join(where.directory, "tree")
  await mkdir(path.join(tree, "below"), { recursive: true })
  await writeFile(path.join(tree, "hello.txt"), "hello\n")
  await writeFile(path.join(tree, "below", "large.txt"), "line\n".repeat(20_000))
  const printed: string[] = []
  for (const { command, until } of steps) {
    let said = ""
    await eventually(
      async () => {
        const args = ["--namespace", where.namespace, ...command]
        const options = { env: where.env, cwd: where.directory, timeoutMs: 90_000 }
        const { stdout, stderr, code } = await run("kubectl", args, options)
        said = normalise(`$ kubectl ${command.join(" ")}\n${stdout}${stderr}exit ${code}`)
        return until === undefined || until.test(stdout)
      },
      { timeoutMs: 60_000, what: `kubectl ${command.join(" ")}` },
    )
    printed.push(said)
  }
  return printed
}

/** What kubectl says while it forwards, and what answers there. */
export async function forward(
  target: string,
  port: number,
  where: CommandLine,
): Promise<{ said: string; body: string }> {
  const place = ["--namespace", where.namespace, "--address", "127.0.0.1"]
  const forwarding = start("kubectl", ["port-forward", target, `:${port}`, ...place], { env: where.env })
  try {
    const said = collect(forwarding.stdout)
    const local = await eventually(() => /127\.0\.0\.1:(\d+)/.exec(said())?.[1])
    const body = await (await fetch(`http://127.0.0.1:${local}/echo?msg=over+and+back`)).text()
    const answered = await eventually(() => (said().includes("Handling") ? said() : undefined))
    return { said: answered.replaceAll(local, "PORT"), body }
  } finally {
    forwarding.kill()
    await once(forwarding, "close")
  }
}
