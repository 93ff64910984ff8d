import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Authority, createAuthority, issueClientCertificate } from "../../gateway/pki/pki.ts"
import { inClusterConfig, loadKubeconfig } from "./kubeconfig.ts"
import { FakeClock } from "../testing/fake-clock.ts"

const [authority, other] = await Promise.all([createAuthority("test"), createAuthority("other")])
const issueOf = (by: Authority) => issueClientCertificate(by, { name: "jane", groups: [] })
const [jane, joe] = await Promise.all([issueOf(authority), issueOf(authority)])

const base64 = (text: string): string => Buffer.from(text).toString("base64")

const kubeconfig = (user: string, cluster = ""): string => `
apiVersion: v1
kind: Config
current-context: main
contexts:
- {name: main, context: {cluster: c, user: u}}
- {name: broken, context: {cluster: gone, user: u}}
clusters:
- name: c
  cluster: {server: "https://host:6443/tenants/a", certificate-authority-data: ${base64(authority.certificate)}${cluster}}
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
  test("reads inline certificates", async () => {
    const user = `{client-certificate-data: ${base64(jane.certificate)}, client-key-data: ${base64(jane.key)}}`
    expect(await loadKubeconfig(kubeconfig(user))).toEqual({
      server: "https://host:6443/tenants/a",
      certificateAuthority: authority.certificate,
      certificate: jane.certificate,
      key: jane.key,
    })
  })

  test("resolves relative files, and rereads the token file for each request", async () => {
    const text = kubeconfig(
      "{client-certificate: cert.pem, client-key: key.pem, tokenFile: token, token: inline}",
      ", insecure-skip-tls-verify: true",
    )
    const pair = { "cert.pem": jane.certificate, "key.pem": jane.key }
    await using files = await directory({ config: text, ...pair, token: "from-file\n" })
    const config = await loadKubeconfig(join(files.path, "config"))
    expect(config).toMatchObject({ certificate: jane.certificate, insecureSkipTlsVerify: true })
    expect(await (config.token as () => Promise<string>)()).toBe("from-file")
  })

  test("rereads a token file after a minute, and immediately when its token is rejected", async () => {
    await using files = await directory({ config: kubeconfig("{tokenFile: token}"), token: "first" })
    const clock = new FakeClock()
    const { token } = await loadKubeconfig(join(files.path, "config"), clock)
    const ask = token as (refused?: string) => Promise<string>
    const write = (text: string): Promise<void> => writeFile(join(files.path, "token"), text)
    expect(await ask()).toBe("first")
    await write("second")
    clock.advance(59_999)
    expect(await ask()).toBe("first")
    clock.advance(1)
    expect(await ask()).toBe("second")
    await write("third")
    expect(await ask("second")).toBe("third")
    await rm(join(files.path, "token"))
    clock.advance(60_000)
    expect(await ask()).toBe("third")
  })

  test("reloads only values from files", async () => {
    const [first, second] = [jane, joe]
    const text = kubeconfig("{client-certificate: cert.pem, client-key: key.pem}", ", certificate-authority: ca.pem")
    const named = text.replace(/certificate-authority-data: [^,]*, /, "")
    await using files = await directory({
      config: named,
      "ca.pem": authority.certificate,
      "cert.pem": first.certificate,
      "key.pem": first.key,
    })
    const write = (name: string, content: string): Promise<void> => writeFile(join(files.path, name), content)
    const { identityAgain, ...config } = await loadKubeconfig(join(files.path, "config"))
    const before = { certificateAuthority: authority.certificate, ...first }
    expect(config).toMatchObject(before)
    await write("config", "kind: Config")
    expect(await identityAgain?.()).toEqual(before)
    await write("cert.pem", second.certificate)
    await expect(identityAgain?.()).rejects.toThrow()
    await write("key.pem", second.key)
    expect(await identityAgain?.()).toEqual({ ...before, ...second })
    await write("ca.pem", authority.certificate.slice(0, 100))
    await expect(identityAgain?.()).rejects.toThrow()
  })

  test.each([
    ["a missing exec plugin", kubeconfig(plugin("gone")), /gone failed: .*ENOENT\nGet it from us/],
    [
      "an exec plugin with an old API version",
      kubeconfig("{exec: {command: a, apiVersion: v0}}"),
      /apiVersion is "v0", not one of/,
    ],
    ["an interactive exec plugin", kubeconfig(plugin("a", "interactiveMode: Always")), /wants to ask a person/],
    ["a proxy", kubeconfig("{}", ", proxy-url: http://proxy"), /proxy-url is not supported/],
    ["impersonation", kubeconfig("{as: jane}"), /impersonation \(as\) is not supported/],
    [
      "a missing cluster",
      kubeconfig("{}").replace("context: main", "context: broken"),
      /cluster "gone" does not exist/,
    ],
    [
      "a missing context",
      kubeconfig("{}").replace("context: main", "context: other"),
      /context "other" does not exist/,
    ],
    ["another document", "kind: Pod\n", /is not a kubeconfig/],
    ["a list that is none", "kind: Config\ncurrent-context: a\ncontexts: 5", /kubeconfig: contexts is not a list/],
    ["an empty item", "kind: Config\ncurrent-context: a\ncontexts: [null]", /kubeconfig: context "a" does not exist/],
    ["another scheme", kubeconfig("{}").replace("https:", "ftp:"), /is not a URL that begins with https:/],
    [
      "an authority that is none",
      kubeconfig("{}").replace(base64(authority.certificate), "eHg="),
      /kubeconfig: the certificate authority cannot be used: .*no start line/,
    ],
    [
      "a certificate that is none",
      kubeconfig("{client-certificate-data: eHg=, client-key-data: eHg=}"),
      /kubeconfig: the client certificate cannot be used: .*no start line/,
    ],
    [
      "a certificate without a key",
      kubeconfig(`{client-certificate-data: ${base64(jane.certificate)}}`),
      /kubeconfig: the client certificate has no key/,
    ],
    [
      "the key of another certificate",
      kubeconfig(`{client-certificate-data: ${base64(jane.certificate)}, client-key-data: ${base64(joe.key)}}`),
      /kubeconfig: the client key cannot be used: .*key values mismatch/,
    ],
    ["invalid YAML", "a: [\n", /is not YAML/],
  ])("rejects %s with an error message", async (_, text, message) => {
    await expect(loadKubeconfig(text)).rejects.toThrow(message)
  })
})

const plugin = (command: string, more = "interactiveMode: Never"): string =>
  `{exec: {apiVersion: client.authentication.k8s.io/v1, command: ${command}, installHint: Get it from us, ${more}}}`

describe("a token of an exec credential plugin", () => {
  /** Loads a kubeconfig with a plugin that runs the program. */
  async function load(program: string, more = "") {
    const script = `#!${process.execPath}\nconst fs = require("node:fs")\n${program}\n`
    const files = await directory({
      config: kubeconfig(plugin("./plugin", `interactiveMode: Never, ${more}`)),
      plugin: script,
    })
    await chmod(join(files.path, "plugin"), 0o700)
    const config = loadKubeconfig(join(files.path, "config"))
    return { files, config }
  }

  const printed = (status: string): string =>
    `console.log(JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: ${status} }))`
  /** Returns another token on each run. */
  const counting = (status = ""): string =>
    `const file = __dirname + "/runs"; fs.appendFileSync(file, "x"); const token = fs.readFileSync(file, "utf8")
${printed(`{ token, ${status} }`)}`
  const tokenOf = async (config: Promise<{ token?: unknown }>) =>
    (await config).token as (refused?: string) => Promise<string>

  test("is cached until the server rejects it", async () => {
    const { files, config } = await load(counting())
    await using _files = files
    const token = await tokenOf(config)
    expect([await token(), await token(), await token("x"), await token("x")]).toEqual(["x", "x", "xx", "xx"])
  })

  test("is cached until it expires", async () => {
    const { files, config } = await load(counting('expirationTimestamp: "2020-01-01T00:00:00Z"'))
    await using _files = files
    const token = await tokenOf(config)
    expect([await token(), await token()]).toEqual(["xx", "xxx"])
  })

  test("is requested once for concurrent requests", async () => {
    const { files, config } = await load(counting('expirationTimestamp: "2020-01-01T00:00:00Z"'))
    await using _files = files
    const token = await tokenOf(config)
    expect(await Promise.all([token(), token(), token()])).toEqual(["xx", "xx", "xx"])
  })

  test("is the output of a program run with arguments, environment and cluster", async () => {
    const program = printed(
      "{ token: JSON.stringify([process.argv[2], process.env.FROM, JSON.parse(process.env.KUBERNETES_EXEC_INFO)]) }",
    )
    const more = "args: [get-token], env: [{name: FROM, value: kubeconfig}], provideClusterInfo: true"
    const { files, config } = await load(program, more)
    await using _files = files
    expect(JSON.parse(await (await tokenOf(config))())).toEqual([
      "get-token",
      "kubeconfig",
      {
        kind: "ExecCredential",
        apiVersion: "client.authentication.k8s.io/v1",
        spec: {
          interactive: false,
          cluster: {
            server: "https://host:6443/tenants/a",
            "certificate-authority-data": base64(authority.certificate),
          },
        },
      },
    ])
  })

  test.each([
    ["that fails", 'console.error("log in first"); process.exit(1)', /plugin failed: log in first/],
    ["that prints invalid output", 'console.log("hello")', /printed no JSON/],
    [
      "of another version",
      'console.log(\'{"kind":"ExecCredential","apiVersion":"v0"}\')',
      /printed v0 ExecCredential, not/,
    ],
    ["without a token", printed("{}"), /gave no token/],
    [
      "with a certificate",
      printed('{ clientCertificateData: "a" }'),
      /gave a client certificate, which is not supported/,
    ],
    [
      "with an invalid expiration",
      printed('{ token: "a", expirationTimestamp: "soon" }'),
      /until "soon", which is no time/,
    ],
  ])("fails with a plugin %s", async (_, program, message) => {
    const { files, config } = await load(program)
    await using _files = files
    await expect(config).rejects.toThrow(message)
  })
})

describe("inClusterConfig()", () => {
  test("reads the service account's files", async () => {
    await using files = await directory({ "ca.crt": other.certificate, token: "t\n" })
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" }
    const config = await inClusterConfig(environment, files.path)
    expect(config).toMatchObject({
      server: "https://[fd00::1]:443",
      certificateAuthority: other.certificate,
    })
    expect(await (config.token as () => Promise<string>)()).toBe("t")
  })

  test("throws outside of a cluster", async () => {
    await expect(inClusterConfig({})).rejects.toThrow("not in a cluster")
  })
})
