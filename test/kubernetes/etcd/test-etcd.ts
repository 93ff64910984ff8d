// A real etcd for tests, of one or more members, on free loopback ports in a folder of its own:
//
//   await using etcd = await TestEtcd.start({ members: 3 })
//
// Members can be killed and started again with what they had. Nothing of it outlives the test process.

import { mkdir, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { call } from "../../harness/https.ts"
import { binary } from "../build/cache.ts"
import { Component } from "../harness/component.ts"
import { temporaryFolder } from "../../harness/folders.ts"
import { freePorts } from "../../harness/ports.ts"

interface TestEtcdOptions {
  /** Default 1. */
  members?: number
  /** Writes go through to the disk, as in production. Default: they do not. */
  durable?: boolean
  flags?: readonly string[]
  /** Clients come over TLS, with a certificate of the same authority. PEM. */
  tls?: { certificateAuthority: string; serving: Pair; client: Pair }
}

interface Pair {
  certificate: string
  key: string
}

interface Member {
  name: string
  client: string
  peer: string
  component: Component | undefined
}

const maxAttempts = 3

export class TestEtcd implements AsyncDisposable {
  readonly #folder: string
  readonly #options: TestEtcdOptions
  readonly #members: Member[]

  static async start(options: TestEtcdOptions = {}): Promise<TestEtcd> {
    for (let attempt = 1; ; attempt++) {
      const folder = await temporaryFolder("polyplane-etcd")
      const count = options.members ?? 1
      const ports = await freePorts(2 * count)
      const members = Array.from({ length: count }, (_, index): Member => {
        const [client = 0, peer = 0] = ports.slice(2 * index)
        return {
          name: `member-${index}`,
          client: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${client}`,
          peer: `http://127.0.0.1:${peer}`,
          component: undefined,
        }
      })
      const etcd = new TestEtcd(folder, options, members)
      try {
        await Promise.all(members.map((_, index) => etcd.startMember(index)))
        return etcd
      } catch (error) {
        await etcd[Symbol.asyncDispose]()
        if (attempt === maxAttempts || !/address already in use/.test(String(error))) throw error
      }
    }
  }

  private constructor(folder: string, options: TestEtcdOptions, members: Member[]) {
    this.#folder = folder
    this.#options = options
    this.#members = members
  }

  /** URLs of all members. */
  get servers(): string[] {
    return this.#members.map(({ client }) => client)
  }

  /** Also again, after kill(): with what it had. Resolves when it answers with a leader known. */
  async startMember(index: number): Promise<void> {
    const member = this.#member(index)
    await mkdir(path.join(this.#folder, "logs"), { recursive: true })
    const { durable = false, flags = [] } = this.#options
    member.component = await Component.start({
      name: member.name,
      program: await binary("etcd"),
      args: [
        `--name=${member.name}`,
        `--data-dir=${path.join(this.#folder, member.name)}`,
        `--listen-client-urls=${member.client}`,
        `--advertise-client-urls=${member.client}`,
        `--listen-peer-urls=${member.peer}`,
        `--initial-advertise-peer-urls=${member.peer}`,
        `--initial-cluster=${this.#members.map(({ name, peer }) => `${name}=${peer}`).join(",")}`,
        ...(durable ? [] : ["--unsafe-no-fsync"]),
        "--log-level=warn",
        ...(await this.#tlsFlags()),
        ...flags,
      ],
      logFile: path.join(this.#folder, "logs", `${member.name}.log`),
    })
    const { client } = this.#options.tls ?? {}
    await member.component.ready(async () => {
      if (client === undefined) return (await fetch(`${member.client}/health`)).ok
      return (await call(member.client, { path: "/health", ...client })).status === 200
    })
  }

  async #tlsFlags(): Promise<string[]> {
    const { tls } = this.#options
    if (tls === undefined) return []
    const write = async (name: string, text: string): Promise<string> => {
      const file = path.join(this.#folder, name)
      await writeFile(file, text, { mode: 0o600 })
      return file
    }
    return [
      `--trusted-ca-file=${await write("ca.crt", tls.certificateAuthority)}`,
      `--cert-file=${await write("tls.crt", tls.serving.certificate)}`,
      `--key-file=${await write("tls.key", tls.serving.key)}`,
      "--client-cert-auth",
    ]
  }

  /** kill -9. */
  async kill(index: number): Promise<void> {
    const member = this.#member(index)
    await member.component?.[Symbol.asyncDispose]()
    member.component = undefined
  }

  /** It keeps its connections, and answers nothing until it goes on. */
  freeze(index: number): void {
    this.#member(index).component?.signal("SIGSTOP")
  }

  goOn(index: number): void {
    this.#member(index).component?.signal("SIGCONT")
  }

  /** The member that leads, as those that run have it. */
  async leader(): Promise<number> {
    for (const [index, { client, component }] of this.#members.entries()) {
      if (component === undefined) continue
      const metrics = await (await fetch(`${client}/metrics`)).text()
      if (/^etcd_server_is_leader 1$/m.test(metrics)) return index
    }
    throw new Error("no member leads")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.kill(index)))
    await rm(this.#folder, { recursive: true, force: true })
  }

  #member(index: number): Member {
    const member = this.#members[index]
    if (member === undefined) throw new RangeError(`there is no member ${index}`)
    return member
  }
}
