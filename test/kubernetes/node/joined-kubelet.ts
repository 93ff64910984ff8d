// A kubelet on a spare machine of a cluster of real nodes that joins another API server, as the kubelets of kubeadm do: with a token it
// requests a client certificate, and with that a serving certificate (kubelet TLS bootstrapping).

import { mkdir, open, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { stringify } from "yaml"
import { start } from "../../harness/processes.ts"
import { kubeletConfiguration } from "./configuration.ts"
import { nodeName } from "./layout.ts"
import type { RealKubernetes } from "./real-kubernetes.ts"

export interface JoinOptions {
  /** The machine's number, after those of the cluster's nodes. */
  machine: number
  /** The name of its Node. */
  node: string
  server: string
  /** PEM, of the server's certificate. */
  certificateAuthority: string
  /** PEM, of the certificates of the kubelet's own clients. */
  clientAuthority: string
  /** Of an identity that may request certificates for nodes. */
  token: string
}

/** Starts it; it ends with the cluster. Its log is node<N>/logs/kubelet.log. */
export async function joinKubelet(kubernetes: RealKubernetes, options: JoinOptions): Promise<void> {
  const { machine, node, server, certificateAuthority, clientAuthority, token } = options
  const directory = path.join(kubernetes.directory, nodeName(machine))
  const inNode = "/mnt/joined"
  const files = {
    "ca.crt": certificateAuthority,
    "client-ca.crt": clientAuthority,
    "bootstrap.kubeconfig": stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "joined", cluster: { server, "certificate-authority": `${inNode}/ca.crt` } }],
      users: [{ name: "joined", user: { token } }],
      contexts: [{ name: "joined", context: { cluster: "joined", user: "joined" } }],
      "current-context": "joined",
    }),
    "kubelet.yaml": stringify(configuration(`${inNode}/client-ca.crt`)),
  }
  await mkdir(path.join(directory, "joined"))
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(directory, "joined", name), content, { mode: 0o600 })
  const flags = [
    `--config=${inNode}/kubelet.yaml`,
    `--bootstrap-kubeconfig=${inNode}/bootstrap.kubeconfig`,
    `--kubeconfig=${inNode}/kubelet.kubeconfig`,
    `--hostname-override=${node}`,
    `--node-ip=${kubernetes.nodeAddress(machine)}`,
    "--v=2",
  ]
  const pid = (await readFile(path.join(directory, "pid"), "utf8")).trim()
  const log = await open(path.join(directory, "logs", "kubelet.log"), "a")
  const script = ["bash", "-c", 'until ctr version >/dev/null; do sleep 0.1; done; exec kubelet "$@"', "kubelet"]
  start("nsenter", ["--target", pid, "--all", "--wd=/", ...script, ...flags], {
    env: { ...process.env, PATH: `/usr/local/bin:${process.env["PATH"] ?? ""}` },
    stdio: ["ignore", log.fd, log.fd],
  })
  await log.close()
}

function configuration(clientCAFile: string): unknown {
  const { tlsCertFile: _certificate, tlsPrivateKeyFile: _key, authentication, ...others } = kubeletConfiguration
  return {
    ...others,
    authentication: { ...authentication, x509: { clientCAFile } },
    rotateCertificates: true,
    serverTLSBootstrap: true,
  }
}
