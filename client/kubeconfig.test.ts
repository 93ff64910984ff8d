import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { inClusterConfig, loadKubeconfig } from "./kubeconfig.ts"

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const kubeconfig = (user: string, cluster = ""): string => `
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u, namespace: team}}
- {name: broken, context: {cluster: gone, user: u}}
clusters:
- name: c
  cluster: {server: "https://host:6443/tenants/a", certificate-authority-data: ${base64("CA")}${cluster}}
users:
- name: u
  user: ${user}
`

interface Directory extends AsyncDisposable {
  path: string
}

async function directory(files: Record<string, string>): Promise<Directory> {
  const path = await mkdtemp(join(tmpdir(), "kubeconfig-"))
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

describe("loadKubeconfig()", () => {
  test("reads certificates from the text", async () => {
    const user = `{client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}`
    expect(await loadKubeconfig(kubeconfig(user))).toEqual({
      server: "https://host:6443/tenants/a",
      certificateAuthority: "CA",
      certificate: "CERT",
      key: "KEY",
      namespace: "team",
    })
  })

  test("reads files relative to its own, and the token file again when it is asked", async () => {
    const text = kubeconfig(
      "{client-certificate: cert.pem, tokenFile: token, token: inline}",
      ", insecure-skip-tls-verify: true",
    )
    await using files = await directory({ config: text, "cert.pem": "CERT", token: "from-file\n" })
    const config = await loadKubeconfig(join(files.path, "config"))
    expect(config).toMatchObject({ certificate: "CERT", insecureSkipTlsVerify: true })
    expect(await (config.token as () => Promise<string>)()).toBe("from-file")
  })

  test.each([
    ["an exec plugin", kubeconfig("{exec: {command: aws}}"), {}, /exec credential plugins are not supported/],
    ["a missing cluster", kubeconfig("{}"), { context: "broken" }, /cluster "gone" does not exist/],
    ["a missing context", kubeconfig("{}"), { context: "other" }, /context "other" does not exist/],
    ["something else", "kind: Pod\n", {}, /is not a kubeconfig/],
    ["what is not YAML", "a: [\n", {}, /is not YAML/],
  ])("refuses %s with a sentence", async (_, text, options, message) => {
    await expect(loadKubeconfig(text, options)).rejects.toThrow(message)
  })
})

describe("inClusterConfig()", () => {
  test("reads the service account's files", async () => {
    await using files = await directory({ "ca.crt": "CA", token: "t\n", namespace: "team\n" })
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" }
    const config = await inClusterConfig(environment, files.path)
    expect(config).toMatchObject({ server: "https://[fd00::1]:443", certificateAuthority: "CA", namespace: "team" })
    expect(await (config.token as () => Promise<string>)()).toBe("t")
  })

  test("says when there is no cluster around", async () => {
    await expect(inClusterConfig({})).rejects.toThrow("not in a cluster")
  })
})
